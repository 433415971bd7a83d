package com.example.shop;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.scheduling.annotation.Async;
import org.springframework.security.access.prepost.PostAuthorize;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.validation.annotation.Validated;

/**
 * Methods with a lock and one layer more, all for one key.
 */
@Validated
class LayeredMethods {

	private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

	private final List<Long> tokens = new ArrayList<>();

	private final AtomicInteger computed = new AtomicInteger();

	private final JdbcClient jdbc;

	LayeredMethods(ObjectProvider<JdbcClient> jdbc) {
		this.jdbc = jdbc.getObject();
	}

	List<String> seen() {
		return this.seen;
	}

	Long lastToken() {
		return this.tokens.get(this.tokens.size() - 1);
	}

	private static boolean isLocked() {
		return LockHandle.current().isPresent();
	}

	@PreAuthorize("hasRole('SELLER')")
	@DistributedLocked("'layers'")
	boolean secured() {
		return isLocked();
	}

	/**
	 * Refused unless the lock is still held when the result is checked.
	 */
	@PostAuthorize("T(io.dlock.LockHandle).current().isPresent()")
	@DistributedLocked("'layers'")
	@Transactional
	int securedResult() {
		return this.jdbc.sql("insert into entry values (1)").update();
	}

	@DistributedLocked("'layers'")
	int validated(@Min(1) int quantity) {
		return quantity;
	}

	@DistributedLocked("#product")
	void validatedKey(@NotNull @Nullable String product) {
		this.seen.add("never");
	}

	@DistributedLocked("'layers'")
	CompletableFuture<Integer> validatedLater(@Min(1) int quantity) {
		return CompletableFuture.completedFuture(quantity);
	}

	@DistributedLocked("'layers'")
	@Transactional
	@Min(2)
	int validatedResult(int result) {
		this.jdbc.sql("insert into entry values (1)").update();
		return result;
	}

	@Cacheable("prices")
	@DistributedLocked("'layers'")
	int cached(String product) {
		return this.computed.incrementAndGet();
	}

	@org.springframework.retry.annotation.Retryable(maxAttempts = 3)
	@DistributedLocked("'layers'")
	List<Long> retriedBySpringRetry() {
		return attempt();
	}

	@org.springframework.resilience.annotation.Retryable(maxRetries = 2, delay = 1)
	@DistributedLocked("'layers'")
	List<Long> retriedByTheFramework() {
		return attempt();
	}

	private List<Long> attempt() {
		this.tokens.add(LockHandle.current().orElseThrow().token());
		if (this.tokens.size() < 3) {
			throw new IllegalStateException("again");
		}
		return List.copyOf(this.tokens);
	}

	@ConcurrencyLimit(1)
	@DistributedLocked("'layers'")
	boolean limited(CountDownLatch inside, CountDownLatch end) {
		inside.countDown();
		try {
			end.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return isLocked();
	}

	@Async
	@DistributedLocked("'layers'")
	CompletableFuture<Boolean> async() {
		return CompletableFuture.completedFuture(isLocked());
	}

	@DistributedLocked("'layers'")
	@Transactional
	List<String> transactional() {
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			this.seen.add("in transaction");
		}
		LockHandle lock = LockHandle.current().orElseThrow();
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				LayeredMethods.this.seen.add((lock.isValid() ? "held" : "free") + " after the transaction");
			}

		});
		return this.seen;
	}

	@DistributedLocked("'layers'")
	void advised() {
	}

	/**
	 * Aspects of the application.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Aspects {

		@Bean
		Ordered ordered(ObjectProvider<LayeredMethods> methods) {
			return new Ordered(methods);
		}

		@Bean
		Unordered unordered(ObjectProvider<LayeredMethods> methods) {
			return new Unordered(methods);
		}

	}

	@Aspect
	@Order(1)
	record Ordered(ObjectProvider<LayeredMethods> methods) {

		@Before("execution(* *..LayeredMethods.advised())")
		void advise() {
			this.methods.getObject().seen().add(isLocked() ? "ordered, lock" : "ordered, no lock");
		}

	}

	@Aspect
	record Unordered(ObjectProvider<LayeredMethods> methods) {

		@Before("execution(* *..LayeredMethods.advised())")
		void advise() {
			this.methods.getObject().seen().add(isLocked() ? "unordered, lock" : "unordered, no lock");
		}

	}

}
