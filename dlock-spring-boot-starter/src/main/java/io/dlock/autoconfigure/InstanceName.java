package io.dlock.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;

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

	/** The process id and the start of the process. */
	private static final String PROCESS = LockSettings.defaults().instance().replaceFirst("^pid-", "");

	private InstanceName() {
	}

	static String of(Environment environment) {
		String place = environment.getProperty("spring.application.name", "application") + "@" + host();
		// what a name cannot have, which separates it from the thread
		String plain = place.replaceAll("[\\p{Cntrl}\\x{80}-\\x{9F}]", " ").replace(" [", " (");
		return plain.substring(0, Math.min(plain.length(), MAX_PLACE_LENGTH)) + ":" + PROCESS;
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
