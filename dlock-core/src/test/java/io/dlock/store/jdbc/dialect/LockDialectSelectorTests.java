package io.dlock.store.jdbc.dialect;

import org.junit.jupiter.api.Test;

import io.dlock.store.StoreMisconfiguredException;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockDialectSelectorTests {

	@Test
	void r33DatabaseWithAClockOnEachNodeIsRefused() {
		assertThatExceptionOfType(StoreMisconfiguredException.class)
			.isThrownBy(() -> LockDialectSelector.mySql("8.0.11-TiDB-v8.5.0", "dlock_lock"))
			.withMessageContaining("TiDB");
	}

}
