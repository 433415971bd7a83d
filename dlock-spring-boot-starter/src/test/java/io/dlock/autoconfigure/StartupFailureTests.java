package io.dlock.autoconfigure;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The reason of a failure at the start.
 */
class StartupFailureTests {

	private static StartupFailure of(String message, String state, int code) {
		return StartupFailure
			.of(new SQLTransientConnectionException("timed out", new SQLException(message, state, code)));
	}

	@Test
	void refusalOfTheDriverIsDefiniteInEachLanguage() {
		assertThat(of("Der Server unterstützt SSL nicht.", "08004", 0)).isEqualTo(StartupFailure.OTHER);
		assertThat(of("The server does not support SSL.", "08004", 0)).isEqualTo(StartupFailure.TLS);
		assertThat(of("SCRAM-based authentication, but no password was provided.", "08004", 0))
			.isEqualTo(StartupFailure.CREDENTIALS);
	}

	@Test
	void tooManyConnectionsMayPass() {
		assertThat(of("Too many connections", "08004", 1040).isTransient()).isTrue();
	}

	@Test
	void hostThatMayNotConnectLacksAPermission() {
		assertThat(of("Host '10.0.0.1' is not allowed to connect to this MariaDB server", "HY000", 1130))
			.isEqualTo(StartupFailure.PERMISSION);
		assertThat(of("Host '10.0.0.1' is not allowed to connect to this MySQL server", "08004", 1130))
			.isEqualTo(StartupFailure.PERMISSION);
	}

}
