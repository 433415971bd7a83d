package io.dlock.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;

import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

import io.dlock.LockSettings;

/**
 * The default name of an instance: application, host, process and start of the process. A
 * container that is restarted has the host and the process id of the one before.
 */
final class InstanceName {

	/** The rest is for the process. */
	private static final int MAX_PLACE_LENGTH = LockSettings.MAX_INSTANCE_LENGTH - 40;

	private static final String START = Long.toString(
			ProcessHandle.current().info().startInstant().orElseGet(Instant::now).toEpochMilli(), Character.MAX_RADIX);

	private InstanceName() {
	}

	static String of(Environment environment) {
		String place = environment.getProperty("spring.application.name", "application") + "@" + host();
		return place.substring(0, Math.min(place.length(), MAX_PLACE_LENGTH)) + ":" + ProcessHandle.current().pid()
				+ "-" + START;
	}

	private static String host() {
		String host = System.getenv("HOSTNAME");
		if (StringUtils.hasText(host)) {
			return host;
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "localhost";
		}
	}

}
