package io.dlock.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;

import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The default name of an instance: application, host and process.
 */
final class InstanceName {

	private InstanceName() {
	}

	static String of(Environment environment) {
		return environment.getProperty("spring.application.name", "application") + "@" + host() + ":"
				+ ProcessHandle.current().pid();
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
