package io.dlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Methods with more than one annotation: one overrides the other, or both say the same,
 * or the bean is refused.
 */
class SeveralAnnotationsTests extends AbstractDistributedLockedTests {

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLocked("'order'")
	@interface OrderLock {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLocked("'stock'")
	@interface StockLock {

	}

	static class Composed {

		@OrderLock
		@StockLock
		public void run() {
		}

	}

	static class ComposedAndPlain {

		@OrderLock
		@DistributedLocked("'stock'")
		public void run() {
		}

	}

	@OrderLock
	@StockLock
	static class OnTheClass {

		public void run() {
		}

	}

	interface OrderApi {

		@OrderLock
		List<String> run();

	}

	interface StockApi {

		@StockLock
		List<String> run();

	}

	static class TwoInterfaces implements OrderApi, StockApi {

		@Override
		public List<String> run() {
			return held();
		}

	}

	private static List<String> held() {
		return LockContext.all().stream().map(LockHandle::key).toList();
	}

	@ParameterizedTest
	@ValueSource(classes = { Composed.class, ComposedAndPlain.class, OnTheClass.class, TwoInterfaces.class })
	void twoLocksOnOneMethodAreRefused(Class<?> type) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> bean(type))
			.satisfies((ex) -> assertThat(ex.getMostSpecificCause())
				.isInstanceOfSatisfying(InvalidLockedMethodException.class, (invalid) -> {
					assertThat(invalid.description()).contains("has two locks", "@OrderLock on ", "run");
					assertThat(invalid.description()).containsAnyOf("@StockLock on ", "@DistributedLocked on ");
					assertThat(invalid.action()).contains("Leave one of them");
				}));
	}

	static class LimitAndLock {

		@DistributedLimit(name = "export", limit = "2")
		@StockLock
		public void run() {
		}

	}

	@StockLock
	static class LimitInALockedClass {

		@DistributedLimit(name = "export", limit = "2")
		public void run() {
		}

	}

	interface ExportApi {

		@DistributedLimit(name = "export", limit = "2")
		void run();

	}

	static class LockOverALimit implements ExportApi {

		@Override
		@StockLock
		public void run() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLimit(name = "export", limit = "3")
	@interface ExportLimit {

	}

	static class ComposedLimitAndLock {

		@StockLock
		@ExportLimit
		public void run() {
		}

	}

	@ExportLimit
	static class LockInALimitedClass {

		@StockLock
		public void run() {
		}

	}

	static class TwoLimits {

		@ExportLimit
		@DistributedLimit(name = "export", limit = "2")
		public void run() {
		}

	}

	@Test
	void twoLimitsOnOneMethodAreRefused() {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> bean(TwoLimits.class))
			.satisfies((ex) -> assertThat(ex.getMostSpecificCause()).isInstanceOfSatisfying(
					InvalidLockedMethodException.class, (invalid) -> assertThat(invalid.description())
						.contains("has two limits, ", "@ExportLimit on ", "@DistributedLimit on ")));
	}

	@ParameterizedTest
	@ValueSource(classes = { LimitAndLock.class, LimitInALockedClass.class, LockOverALimit.class,
			ComposedLimitAndLock.class, LockInALimitedClass.class })
	void limitAndLockOnOneMethodAreRefused(Class<?> type) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> bean(type))
			.satisfies((ex) -> assertThat(ex.getMostSpecificCause())
				.isInstanceOfSatisfying(InvalidLockedMethodException.class, (invalid) -> {
					assertThat(invalid.description()).contains("has both a limit and a lock, ",
							"Limit on " + type.getPackageName(), "@StockLock on " + type.getPackageName());
					assertThat(invalid.action()).contains("another bean", "The outer one is acquired first");
				}));
	}

	static class Overriding extends TwoInterfaces {

		@Override
		@DistributedLocked("'own'")
		public List<String> run() {
			return held();
		}

	}

	@StockLock
	static class OnMethodAndClass {

		@OrderLock
		public List<String> run() {
			return held();
		}

	}

	@Test
	void annotationThatOverridesOthersCounts() {
		assertThat(bean(Overriding.class).run()).containsExactly("own");
	}

	@Test
	void annotationOnTheMethodCountsBeforeThatOnTheClass() {
		assertThat(bean(OnMethodAndClass.class).run()).containsExactly("order");
	}

	static class TheSame implements OrderApi {

		@Override
		@OrderLock
		@DistributedLocked("'order'")
		public List<String> run() {
			return held();
		}

	}

	@Test
	void equalAnnotationsCountAsOne() {
		assertThat(bean(TheSame.class).run()).containsExactly("order");
	}

	static class Unlocked {

		public List<String> run() {
			return held();
		}

	}

	@StockLock
	static class LockedSubclass extends Unlocked {

	}

	@Test
	void annotationOfASubclassLocksWhatItInherits() {
		assertThat(bean(LockedSubclass.class).run()).containsExactly("stock");
	}

}
