package io.dlock.store;

import java.time.Duration;
import java.util.Locale;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class MailboxAddressTests {

	@Test
	void addressContainsTheDurationOfTheReservation() {
		MailboxAddress address = MailboxAddress.create(Duration.ofMillis(50));
		assertThat(address.value()).matches("0050[0-9a-z]{12}").hasSize(MailboxAddress.LENGTH);
		assertThat(address.reservationTime()).isEqualTo(Duration.ofMillis(50));
		assertThat(address.reservationOwner()).isEqualTo(">" + address.value());
		assertThat(MailboxAddress.create(Duration.ofMillis(50))).isNotEqualTo(address);
	}

	@Test
	void reservationTimeIsBounded() {
		assertThat(MailboxAddress.create(Duration.ZERO).reservationTime()).isEqualTo(Duration.ofMillis(1));
		assertThat(MailboxAddress.create(Duration.ofDays(1)).reservationTime())
			.isEqualTo(MailboxAddress.MAX_RESERVATION_TIME);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ar-EG", "fa", "tr" })
	void addressIsTheSameInAllLanguages(String language) {
		Locale before = Locale.getDefault();
		Locale.setDefault(Locale.forLanguageTag(language));
		try {
			assertThat(MailboxAddress.create(Duration.ofMillis(1234)).value()).startsWith("1234");
		}
		finally {
			Locale.setDefault(before);
		}
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "", "0050", "0050abcdefghijk ", "005xabcdefghijkl", "0050abcdefghijklm", "0050ABCDEFGHIJKL" })
	void malformedAddressIsRefused(String value) {
		assertThatIllegalArgumentException().isThrownBy(() -> new MailboxAddress(value))
			.withMessageContaining("mailbox");
	}

}
