package io.dlock.autoconfigure.actuate;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration of the health of the locks.
 *
 * @param interval Time for which the result of a check is reused, however often the
 * health is requested. A failure is used for at most one second
 * @since 0.1
 */
@ConfigurationProperties("dlock.health")
public record DlockHealthProperties(@DefaultValue("10s") Duration interval) {

	public DlockHealthProperties {
		if (interval.isNegative()) {
			throw new IllegalArgumentException("'dlock.health.interval' must not be negative but is " + interval);
		}
	}

}
