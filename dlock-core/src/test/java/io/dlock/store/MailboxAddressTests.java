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
		assertThat(address.value()).matches("0050[0-9a-z]{8}0000").hasSize(MailboxAddress.LENGTH);
		assertThat(address.reservationTime()).isEqualTo(Duration.ofMillis(50));
		assertThat(address.reservationOwner()).isEqualTo(">" + address.value());
		assertThat(MailboxAddress.create(Duration.ofMillis(50))).isNotEqualTo(address);
	}

	@Test
	void addressOfARequestIsThatOfItsProcessWithANumber() {
		MailboxAddress process = MailboxAddress.create(Duration.ofMillis(50));
		MailboxAddress request = process.ofRequest(37);
		assertThat(request.value()).isEqualTo(process.value().substring(0, 12) + ".011");
		assertThat(request.isOfRequest()).isTrue();
		assertThat(request.mailbox()).isEqualTo(process);
		assertThat(request.reservationTime()).isEqualTo(process.reservationTime());
		assertThat(request.message("key")).isEqualTo("key " + request.value());
		assertThat(process.isOfRequest()).isFalse();
		assertThat(process.mailbox()).isEqualTo(process);
		assertThat(process.message("key")).isEqualTo("key");
		assertThat(MailboxAddress.storageKey("key " + request.value())).isEqualTo("key");
		assertThat(MailboxAddress.storageKey("key")).isEqualTo("key");
		assertThat(process.ofRequest(37 + 46_656)).isEqualTo(request);
		assertThat(process.ofRequest(Integer.MIN_VALUE).isOfRequest()).isTrue();
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
	@ValueSource(strings = { "", "0050", "0050abcdefghijk ", "005xabcdefghijkl", "0050abcdefghijklm",
			"0050ABCDEFGHIJKL", "0050abcdefgh.ij", "0050abcd.fghijkl" })
	void malformedAddressIsRefused(String value) {
		assertThatIllegalArgumentException().isThrownBy(() -> new MailboxAddress(value))
			.withMessageContaining("mailbox");
	}

}
