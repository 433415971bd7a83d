package io.dlock.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockKeyConverter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Types that the application adds to those that a key may be made of.
 */
class LockKeyConverterTests extends AbstractDistributedLockedTests {

	static class Money {

		final long cents;

		Money(long cents) {
			this.cents = cents;
		}

	}

	static class Dollars extends Money {

		Dollars(long cents) {
			super(cents);
		}

	}

	record Price(Money money, String unit) {

	}

	static class Prices {

		@DistributedLocked(name = "money", key = "#money")
		public String money(Money money) {
			return LockHandle.current().orElseThrow().key();
		}

		@DistributedLocked(name = "price", key = "#price")
		public String price(Price price) {
			return LockHandle.current().orElseThrow().key();
		}

		@DistributedLocked(name = "concatenated", key = "#unit + '/' + #money")
		public String concatenated(String unit, Money money) {
			return LockHandle.current().orElseThrow().key();
		}

		@DistributedLocked(name = "set", key = "#units")
		public String units(Set<String> units) {
			return LockHandle.current().orElseThrow().key();
		}

	}

	@Test
	void c2ConverterAddsATypeAndItsSubtypes() {
		this.context.registerBean("money", LockKeyConverter.class, () -> new LockKeyConverter<>(Money.class,
				(money) -> (money.cents < 0) ? " " : money.cents + " \"ct\""));
		this.context.registerBean("units", LockKeyConverter.class,
				() -> new LockKeyConverter<>(Set.class, (units) -> new ArrayList<>(List.of("sorted")).toString()));
		Prices prices = bean(Prices.class);
		assertThat(prices.money(new Dollars(5))).isEqualTo("money:5 \"ct\"");
		assertThat(prices.concatenated("kg", new Money(5))).isEqualTo("concatenated:kg/5 \"ct\"");
		assertThat(prices.price(new Price(new Money(5), "kg"))).isEqualTo("price:[\"5 \\\"ct\\\"\",\"kg\"]");
		assertThat(prices.units(Set.of("kg"))).isEqualTo("set:[sorted]");
		assertThatIllegalArgumentException().isThrownBy(() -> prices.money(new Money(-1)))
			.withMessageContaining("blank");
	}

}
