package io.dlock.aop;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

import io.dlock.LockRegistry;
import io.dlock.LockRequest;

/**
 * What the calls of locked methods have around them.
 *
 * @param registry the registry
 * @param transactions the transactions
 * @param mdc whether what a method logs is to show its lock
 */
record Surroundings(Supplier<LockRegistry> registry, Supplier<LockedTransactions> transactions, BooleanSupplier mdc) {

	private static final boolean MDC_PRESENT = ClassUtils.isPresent("org.slf4j.MDC",
			Surroundings.class.getClassLoader());

	private static final boolean CONTEXT_PROPAGATION = ClassUtils.isPresent("io.micrometer.context.ContextRegistry",
			Surroundings.class.getClassLoader());

	boolean isLogged() {
		return MDC_PRESENT && this.mdc.getAsBoolean();
	}

	/**
	 * A mock of the registry answers with nothing unless it is told what to return, which
	 * a registry never does.
	 * @param answer what the registry returned
	 * @param request what it was asked for
	 * @param <T> the type of the answer
	 * @return the answer
	 */
	static <T> T answered(@Nullable T answer, LockRequest request) {
		if (answer == null) {
			throw new IllegalStateException(
					("The LockRegistry returned null for the key '%s', so that the locked method was not called. "
							+ "If it is a mock, tell it what to return, or test with dlock.backend=memory and no mock")
						.formatted(request.key()));
		}
		return answer;
	}

	/**
	 * Whether what is logged on other threads can show it as well.
	 * @return whether it can
	 */
	boolean isLoggedElsewhere() {
		return CONTEXT_PROPAGATION && isLogged();
	}

}
