package io.dlock.store.jdbc;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class JdbcLockStoreSettingsTests {

	private final JdbcLockStoreSettings settings = JdbcLockStoreSettings.defaults();

	@ParameterizedTest
	@ValueSource(strings = { "locks", "LOCKS_2", "_locks", "shop.locks" })
	void r36TableIsAnIdentifier(String table) {
		assertThat(this.settings.withTable(table).table()).isEqualTo(table);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "1locks", "lo cks", "locks;", "locks; DROP TABLE orders", "\"locks\"", "a.b.c",
			".locks", "locks.", "löcks", "locks--",
			"a234567890123456789012345678901234567890123456789012345678901234" })
	void r36OtherTableNamesAreRefused(String table) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.withTable(table))
			.withMessageContaining("'table' must be a name");
	}

	@Test
	void valuesOutOfRangeAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.withCommandTimeout(Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.withPoolSize(1))
			.withMessageContaining("one of them for renewals");
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.withPoolSize(-1));
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.withPoolSize(65));
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.withRetention(Duration.ofSeconds(59)));
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.withRetention(Duration.ofDays(36_501)));
	}

}
