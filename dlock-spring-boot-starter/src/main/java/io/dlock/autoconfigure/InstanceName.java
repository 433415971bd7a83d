package io.dlock.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;

import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The default name of an instance: application, host, process and start of the process. A
 * container that is restarted has the host and the process id of the one before.
 */
final class InstanceName {

	private static final String START = Long.toString(
			ProcessHandle.current().info().startInstant().orElseGet(Instant::now).toEpochMilli(), Character.MAX_RADIX);

	private InstanceName() {
	}

	static String of(Environment environment) {
		return environment.getProperty("spring.application.name", "application") + "@" + host() + ":"
				+ ProcessHandle.current().pid() + "-" + START;
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
