package io.dlock.aop;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.springframework.util.ClassUtils;

import io.dlock.LockRegistry;

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
	 * Whether what is logged on other threads can show it as well.
	 * @return whether it can
	 */
	boolean isLoggedElsewhere() {
		return CONTEXT_PROPAGATION && isLogged();
	}

}
