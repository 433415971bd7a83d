package io.dlock.autoconfigure;

import java.util.Locale;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.core.env.Environment;

/**
 * Refuses a setting of another backend that promises that locks outlive something. Other
 * settings of other backends are ignored, as in a file that several applications share.
 */
enum ForeignGuarantee {

	ACKNOWLEDGE("dlock.redis.acknowledge", "none", DlockBackend.REDIS),

	SYNCHRONOUS_COMMIT("dlock.jdbc.synchronous-commit", "default", DlockBackend.JDBC);

	private final String property;

	private final String off;

	private final DlockBackend backend;

	ForeignGuarantee(String property, String off, DlockBackend backend) {
		this.property = property;
		this.off = off;
		this.backend = backend;
	}

	/**
	 * Check the settings, unless the locks are in memory: tests of an application that
	 * has such a setting use that store.
	 */
	static void check(Environment environment, DlockBackend chosen) {
		if (chosen == DlockBackend.MEMORY) {
			return;
		}
		Binder binder = Binder.get(environment);
		for (ForeignGuarantee each : values()) {
			String value = binder.bind(each.property, String.class).orElse("").trim();
			if (chosen != each.backend && !value.isEmpty() && !value.equalsIgnoreCase(each.off)) {
				throw new FailureAnalyzedException(
						"%s is '%s', which does not apply to locks with dlock.backend=%s.".formatted(each.property,
								value, name(chosen)),
						"Set %s=%s, or choose dlock.backend=%s.".formatted(each.property, each.off,
								name(each.backend)));
			}
		}
	}

	private static String name(DlockBackend backend) {
		return backend.name().toLowerCase(Locale.ROOT);
	}

}
