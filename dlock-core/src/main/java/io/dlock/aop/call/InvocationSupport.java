package io.dlock.aop.call;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSet;
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

	static {
		if (MDC_PRESENT && CONTEXT_PROPAGATION) {
			MdcEntriesAccessor.register();
		}
	}

	InvocationSupport with(LockRegistry other) {
		return new InvocationSupport(() -> other, this.transactions, this.mdc);
	}

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

	LockSet acquire(LockRequest request) {
		return LockSet.of(List.of(answered(this.registry.get().acquire(request), request)));
	}

	LockSet acquireAll(LockRequest template, List<String> keys) {
		return answered(this.registry.get().acquireAll(template, keys), template);
	}

	LockSet acquirePermit(LockRequest request, int limit) {
		return LockSet.of(List.of(answered(this.registry.get().acquirePermit(request, limit), request)));
	}

	CompletableFuture<LockSet> acquirePermitAsync(LockRequest request, int limit) {
		return later(this.registry.get().acquirePermitAsync(request, limit), request,
				(handle) -> LockSet.of(List.of(handle)));
	}

	/**
	 * Ask for a lock.
	 * @param outer the handle of the key that the caller holds, or none
	 * @return the lock to come
	 */
	CompletableFuture<LockSet> acquireAsync(LockRequest request, List<LockHandle> outer) {
		LockRegistry asked = this.registry.get();
		return later(outer.isEmpty() ? asked.acquireAsync(request) : asked.acquireAsync(request, outer.get(0)), request,
				(handle) -> LockSet.of(List.of(handle)));
	}

	/**
	 * Ask for several locks.
	 * @param template the settings of each
	 * @param keys their keys
	 * @param outer handles of them that the caller holds
	 * @return the locks to come
	 */
	CompletableFuture<LockSet> acquireAllAsync(LockRequest template, List<String> keys, List<LockHandle> outer) {
		return later(this.registry.get().acquireAllAsync(template, keys, outer), template, Function.identity());
	}

	/**
	 * Locks to come as a set. A caller that gives up the set gives up the locks.
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // the set is kept
	private static <T> CompletableFuture<LockSet> later(@Nullable CompletableFuture<T> acquired, LockRequest request,
			Function<T, LockSet> locks) {
		CompletableFuture<T> asked = answered(acquired, request);
		CompletableFuture<LockSet> set = new CompletableFuture<>();
		asked.whenComplete((granted, failure) -> {
			try {
				if (failure != null) {
					set.completeExceptionally(failure);
					return;
				}
				LockSet all = locks.apply(answered(granted, request));
				if (!set.complete(all)) {
					all.releaseAsync();
				}
			}
			catch (RuntimeException ex) {
				set.completeExceptionally(ex);
			}
		});
		set.whenComplete((all, failure) -> asked.cancel(false));
		return set;
	}

	/**
	 * A registry never returns {@code null}, but an unstubbed mock does.
	 */
	private static <T> T answered(@Nullable T answer, LockRequest request) {
		if (answer == null) {
			throw new IllegalStateException(
					("The LockRegistry returned null for %s, so that the locked method was not called. "
							+ "If it is a mock, tell it what to return, or test with dlock.backend=memory and no mock")
						.formatted(request));
		}
		return answer;
	}

}
