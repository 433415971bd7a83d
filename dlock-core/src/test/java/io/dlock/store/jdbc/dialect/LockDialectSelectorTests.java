package io.dlock.store.jdbc.dialect;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.store.StoreMisconfiguredException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockDialectSelectorTests {

	@Test
	void r33DatabaseWithAClockOnEachNodeIsRefused() {
		assertThatExceptionOfType(StoreMisconfiguredException.class)
			.isThrownBy(() -> LockDialectSelector.mySql("8.0.11-TiDB-v8.5.0", "dlock_lock"))
			.withMessageContaining("TiDB");
	}

	@ParameterizedTest
	@ValueSource(strings = { "5.7.44-log", "5.6.10", "10.5.29-MariaDB-log", "5.5.68-MariaDB" })
	void serverThatCannotRenewLocksIsRefused(String version) {
		assertThatExceptionOfType(StoreMisconfiguredException.class)
			.isThrownBy(() -> LockDialectSelector.mySql(version, "dlock_lock"))
			.withMessageContaining("too old (%s)", version)
			.satisfies((ex) -> assertThat(ex.action()).contains("MySQL 8.0", "MariaDB 10.6"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "8.0.11", "8.4.7-7", "9.5.0", "10.6.0-MariaDB", "10.11.14-MariaDB",
			"12.1.2-MariaDB-ubu2404", "unknown" })
	void newerServerIsAccepted(String version) {
		assertThat(LockDialectSelector.mySql(version, "dlock_lock")).isInstanceOf(MySqlLockDialect.class);
	}

}
