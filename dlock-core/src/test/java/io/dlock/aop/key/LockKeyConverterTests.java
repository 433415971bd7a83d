package io.dlock.aop.key;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockKeyConverter;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.aop.InvalidLockedMethodException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
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

	static class App {

		@Bean
		LockKeyConverter<Money> moneyInKeys() {
			return new LockKeyConverter<>(Money.class, (money) -> money.cents + " ct");
		}

		@DistributedLocked(name = "nightly")
		public void job() {
		}

		@DistributedLocked(name = "order", key = "#id + '-' + #at")
		public String order(long id, Instant at) {
			return LockHandle.current().orElseThrow().key();
		}

	}

	static class AppWithMoney extends App {

		@DistributedLocked(name = "money", key = "#money")
		public void money(Money money) {
		}

	}

	static class AppWithTill extends App {

		@Bean
		Till till() {
			return new Till();
		}

	}

	static class Till {

		@DistributedLocked(name = "money", key = "#money")
		public String money(Money money) {
			return LockHandle.current().orElseThrow().key();
		}

	}

	static class AppWithStatic {

		@Bean
		static LockKeyConverter<Money> moneyInKeys() {
			return new LockKeyConverter<>(Money.class, (money) -> money.cents + " ct");
		}

		@DistributedLocked(name = "money", key = "#money")
		public String money(Money money) {
			return LockHandle.current().orElseThrow().key();
		}

	}

	/**
	 * As Spring Boot sets it.
	 */
	private void refuseCircularReferences() {
		this.context.setAllowCircularReferences(false);
	}

	@Test
	void c2ConverterMayBeDeclaredBesideALockedMethodThatDoesNotNeedIt() {
		refuseCircularReferences();
		assertThat(bean(AppWithTill.class).order(7, Instant.EPOCH)).isEqualTo("order:7-1970-01-01T00:00:00Z");
		assertThat(this.context.getBean(Till.class).money(new Money(5))).isEqualTo("money:5 ct");
	}

	@Test
	void c2ConverterBesideALockedMethodThatNeedsItHasToBeStatic() {
		refuseCircularReferences();
		assertThatException().isThrownBy(() -> bean(AppWithMoney.class))
			.havingRootCause()
			.isInstanceOf(InvalidLockedMethodException.class)
			.withMessageContaining("'#money'")
			.withMessageContaining("static");
	}

	@Test
	void c2StaticConverterMayBeDeclaredBesideALockedMethodThatNeedsIt() {
		refuseCircularReferences();
		assertThat(bean(AppWithStatic.class).money(new Money(5))).isEqualTo("money:5 ct");
	}

}
