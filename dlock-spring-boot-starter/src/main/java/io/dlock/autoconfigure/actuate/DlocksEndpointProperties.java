package io.dlock.autoconfigure.actuate;

import java.util.Set;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration of the actuator endpoint "dlocks".
 *
 * @param forcedRelease When the endpoint may take a lock away from its holder. Without a
 * fence the work of the old and of the new holder may mix
 * @param forcedReleaseRoles Roles that may take a lock away when authorized. At least one
 * is required then
 * @param limit Number of locks of the store that the endpoint lists, unless a request
 * says otherwise
 * @param showKeys When to show keys, which may be personal data. Otherwise hashes are
 * shown. Spans show keys only if always
 * @param roles Roles that may see the keys when authorized. If empty, every authenticated
 * user may
 * @since 0.1
 */
@ConfigurationProperties("dlock.endpoint")
public record DlocksEndpointProperties(@DefaultValue("never") Show forcedRelease,
		@DefaultValue Set<String> forcedReleaseRoles, @DefaultValue("100") int limit,
		@DefaultValue("never") Show showKeys, @DefaultValue Set<String> roles) {

	static final int MAX_LIMIT = 10_000;

	public DlocksEndpointProperties {
		if (limit < 1 || limit > MAX_LIMIT) {
			throw new IllegalArgumentException(
					"'dlock.endpoint.limit' must be from 1 to " + MAX_LIMIT + " but is " + limit);
		}
		if (forcedRelease == Show.WHEN_AUTHORIZED && forcedReleaseRoles.isEmpty()) {
			throw new IllegalArgumentException(
					"'dlock.endpoint.forced-release' is 'when-authorized', which asks for a role of its own. Name it in 'dlock.endpoint.forced-release-roles'");
		}
		forcedReleaseRoles = Set.copyOf(forcedReleaseRoles);
		roles = Set.copyOf(roles);
	}

}
