package io.dlock.autoconfigure;

import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.diagnostics.FailureAnalyzedException;

import io.dlock.store.StoreMisconfiguredException;

import static java.util.Map.entry;

/**
 * Turns refused property values into a description and an action. For the
 * auto-configurations of dlock only.
 */
public final class DlockConfigurationErrors {

	/** The settings of a group, by the names that their messages begin with. */
	private static final Map<String, String> GROUPED = Map.ofEntries(entry("fenceTable", "jdbc.fence-table"),
			entry("handOffMaxDuration", "hand-off.max-duration"), entry("longestLease", "failover.longest-lease"),
			entry("maxLag", "failover.max-lag"), entry("nodes", "quorum.nodes"), entry("poolSize", "jdbc.pool-size"),
			entry("prefix", "redis.prefix"), entry("replicas", "redis.acknowledge-replicas"),
			entry("retention", "jdbc.retention"), entry("table", "jdbc.table"),
			entry("timeout", "redis.acknowledge-timeout"), entry("wrongClocks", "quorum.wrong-clocks"));

	private static final Pattern SETTING = Pattern.compile("^'([a-z][a-zA-Z]*)'");

	private static final Pattern PROPERTY = Pattern.compile("dlock\\.[a-z-]+(\\.[a-z-]+)*(\\[\\d+])?");

	private DlockConfigurationErrors() {
	}

	static void analyzed(Runnable configuration) {
		analyzed(() -> {
			configuration.run();
			return configuration;
		});
	}

	/**
	 * Create an object from properties.
	 * @param <T> the type of the object
	 * @param configured creates the object
	 * @return the object
	 * @throws FailureAnalyzedException if a property has a value that is refused, or a
	 * store cannot be used as it is configured
	 */
	public static <T> T analyzed(Supplier<T> configured) {
		try {
			return configured.get();
		}
		catch (IllegalArgumentException ex) {
			String problem = SETTING.matcher(message(ex)).replaceFirst((name) -> "'" + property(name.group(1)) + "'");
			throw new FailureAnalyzedException("The configuration of dlock is not valid: " + problem + ".",
					action(problem), ex);
		}
		catch (StoreMisconfiguredException ex) {
			throw new FailureAnalyzedException(ex.description(), ex.action(), ex);
		}
	}

	/**
	 * Create settings whose name for a value is that of another property.
	 * @param property the property of the value
	 * @param configured creates the settings
	 */
	static <T> T naming(String property, Supplier<T> configured) {
		try {
			return configured.get();
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(SETTING.matcher(message(ex)).replaceFirst("'" + property + "'"), ex);
		}
	}

	private static String message(IllegalArgumentException ex) {
		return Objects.requireNonNullElse(ex.getMessage(), ex.toString());
	}

	private static String property(String setting) {
		return "dlock." + GROUPED.getOrDefault(setting, DataObjectPropertyName.toDashedForm(setting));
	}

	private static String action(String problem) {
		Matcher property = PROPERTY.matcher(problem);
		return "Correct " + (property.find() ? property.group() : "the dlock.* properties") + ".";
	}

}
