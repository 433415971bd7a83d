package io.dlock.aop.call;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.transaction.TransactionIntegration;

/**
 * The services of all calls of locked methods.
 *
 * @param registry the registry
 * @param transactions the transactions
 * @param mdc whether the log of a method shows its lock
 */
record InvocationSupport(Supplier<LockRegistry> registry, Supplier<TransactionIntegration> transactions,
		BooleanSupplier mdc) {

	private static final boolean MDC_PRESENT = ClassUtils.isPresent("org.slf4j.MDC",
			InvocationSupport.class.getClassLoader());

	private static final boolean CONTEXT_PROPAGATION = ClassUtils.isPresent("io.micrometer.context.ContextRegistry",
			InvocationSupport.class.getClassLoader());

	boolean isLogged() {
		return MDC_PRESENT && this.mdc.getAsBoolean();
	}

	/**
	 * Whether the log of other threads can show the lock as well.
	 * @return whether it can
	 */
	boolean isLoggedElsewhere() {
		return CONTEXT_PROPAGATION && isLogged();
	}

	LockHandle acquire(LockRequest request) {
		return answered(this.registry.get().acquire(request), request);
	}

	/**
	 * Ask for a lock.
	 * @param request the request
	 * @param outer a handle of the key that the caller holds, or {@code null}
	 * @return the handle to come
	 */
	CompletableFuture<LockHandle> acquireAsync(LockRequest request, @Nullable LockHandle outer) {
		LockRegistry asked = this.registry.get();
		return answered((outer != null) ? asked.acquireAsync(request, outer) : asked.acquireAsync(request), request);
	}

	/**
	 * A registry never returns {@code null}, but a mock without an answer does.
	 */
	private static <T> T answered(@Nullable T answer, LockRequest request) {
		if (answer == null) {
			throw new IllegalStateException(
					("The LockRegistry returned null for the key '%s', so that the locked method was not called. "
							+ "If it is a mock, tell it what to return, or test with dlock.backend=memory and no mock")
						.formatted(request.key()));
		}
		return answer;
	}

}
