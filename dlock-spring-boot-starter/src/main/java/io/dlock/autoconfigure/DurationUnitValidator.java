package io.dlock.autoconfigure;

import java.util.List;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.core.env.Environment;

/**
 * Refuses durations without a unit: {@code dlock.lease=30} would be 30 milliseconds.
 */
final class DurationUnitValidator {

	static final List<String> DURATIONS = List.of("dlock.lease", "dlock.wait-time", "dlock.max-hold",
			"dlock.command-timeout", "dlock.max-poll-interval", "dlock.shutdown-timeout", "dlock.startup-timeout",
			"dlock.hand-off.max-duration", "dlock.jdbc.retention", "dlock.health.interval",
			"dlock.failover.longest-lease", "dlock.failover.max-lag", "dlock.quorum.longest-lease",
			"dlock.redis.acknowledge-timeout");

	private DurationUnitValidator() {
	}

	static void check(Environment environment) {
		Binder binder = Binder.get(environment);
		for (String name : DURATIONS) {
			String value = binder.bind(name, String.class).orElse("").trim();
			if (!value.isEmpty() && value.chars().noneMatch(Character::isLetter)) {
				throw new FailureAnalyzedException("The property %s is '%s', which has no unit.".formatted(name, value),
						"Add one: %1$s=%2$ss or %1$s=%2$sms.".formatted(name, value));
			}
		}
	}

}
