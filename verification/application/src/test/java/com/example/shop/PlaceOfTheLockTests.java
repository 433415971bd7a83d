package com.example.shop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.test.Patience;
import jakarta.validation.ConstraintViolationException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.annotation.EnableTransactionManagement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * C7, C8: each row of the table in docs/order.md, as it is by default and as it can be
 * changed.
 */
class PlaceOfTheLockTests {

	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	static class Security {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching(order = Ordered.LOWEST_PRECEDENCE - 10)
	static class CachingOutside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableRetry
	static class SpringRetry {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Resilience {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(order = Ordered.LOWEST_PRECEDENCE - 10)
	static class ResilienceInside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class Async {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 0)
	static class EarlyTransactions {

	}

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, AopAutoConfiguration.class,
				ValidationAutoConfiguration.class, CacheAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				JdbcClientAutoConfiguration.class, TransactionAutoConfiguration.class))
		.withUserConfiguration(LayeredMethods.class, LayeredMethods.Aspects.class)
		.withPropertyValues("dlock.backend=memory", "dlock.wait-time=0s", "dlock.shutdown-timeout=0s",
				"spring.datasource.generate-unique-name=true");

	@AfterEach
	void logOut() {
		SecurityContextHolder.clearContext();
	}

	/**
	 * Make a call while another caller has the lock.
	 */
	private static void whileBusy(AssertableApplicationContext context, Runnable call) {
		LockHandle other = context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("layers")).join();
		try {
			call.run();
		}
		finally {
			other.release();
		}
	}

	private static LayeredMethods methods(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed();
		return context.getBean(LayeredMethods.class);
	}

	// security

	@Test
	void c7UnauthorizedCallerIsDeniedWhileTheLockIsBusy() {
		this.runner.withUserConfiguration(Security.class).run((context) -> {
			loggedIn("ROLE_GUEST");
			whileBusy(context,
					() -> assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(methods(context)::secured));
			loggedIn("ROLE_SELLER");
			whileBusy(context,
					() -> assertThatExceptionOfType(LockBusyException.class).isThrownBy(methods(context)::secured));
			assertThat(methods(context).secured()).isTrue();
		});
	}

	@Test
	void c7LockBeforeSecurityIsPossible() {
		this.runner.withUserConfiguration(Security.class).withPropertyValues("dlock.aop.order=50").run((context) -> {
			loggedIn("ROLE_GUEST");
			whileBusy(context,
					() -> assertThatExceptionOfType(LockBusyException.class).isThrownBy(methods(context)::secured));
		});
	}

	@Test
	void resultIsAuthorizedAfterTheReleaseAndTheCommit() {
		this.runner.withUserConfiguration(Security.class).run((context) -> {
			JdbcClient jdbc = context.getBean(JdbcClient.class);
			jdbc.sql("create table entry (id int)").update();
			loggedIn("ROLE_SELLER");
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(methods(context)::securedResult);
			assertThat(jdbc.sql("select count(*) from entry").query(Integer.class).single()).isOne();
		});
	}

	@Test
	void resultIsAuthorizedUnderTheLockIfTransactionsComeFirst() {
		this.runner.withUserConfiguration(Security.class, EarlyTransactions.class).run((context) -> {
			context.getBean(JdbcClient.class).sql("create table entry (id int)").update();
			loggedIn("ROLE_SELLER");
			assertThat(methods(context).securedResult()).isOne();
		});
	}

	private static void loggedIn(String role) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("user", "", role));
	}

	// validation

	@Test
	void c7InvalidArgumentIsRefusedWhileTheLockIsBusy() {
		this.runner.run((context) -> {
			whileBusy(context, () -> assertThatExceptionOfType(ConstraintViolationException.class)
				.isThrownBy(() -> methods(context).validated(0)));
			whileBusy(context, () -> assertThatExceptionOfType(LockBusyException.class)
				.isThrownBy(() -> methods(context).validated(1)));
			assertThat(methods(context).validated(1)).isOne();
		});
	}

	@Test
	void c7InvalidKeyIsAnInvalidArgumentFirst() {
		this.runner.run((context) -> assertThatExceptionOfType(ConstraintViolationException.class)
			.isThrownBy(() -> methods(context).validatedKey(null)));
	}

	@Test
	void c7InvalidArgumentOfAnAsynchronousMethodIsRefusedAtTheCall() {
		this.runner.run((context) -> assertThatExceptionOfType(ConstraintViolationException.class)
			.isThrownBy(() -> methods(context).validatedLater(0)));
	}

	@Test
	void resultIsValidatedInTheTransactionAsWithoutALock() {
		this.runner.run((context) -> {
			JdbcClient jdbc = context.getBean(JdbcClient.class);
			jdbc.sql("create table entry (id int)").update();
			assertThatExceptionOfType(ConstraintViolationException.class)
				.isThrownBy(() -> methods(context).validatedResult(1));
			assertThat(jdbc.sql("select count(*) from entry").query(Integer.class).single()).isZero();
			methods(context).validatedResult(2);
			assertThat(jdbc.sql("select count(*) from entry").query(Integer.class).single()).isOne();
		});
	}

	// cache

	@Test
	void missIsComputedOnceForAllWaitingCallers() {
		this.runner.withUserConfiguration(Caching.class).withPropertyValues("dlock.wait-time=30s").run((context) -> {
			LayeredMethods methods = methods(context);
			List<CompletableFuture<Integer>> calls = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				calls.add(CompletableFuture.supplyAsync(() -> methods.cached("book")));
			}
			calls.forEach((call) -> assertThat(call).succeedsWithin(Patience.EVENTUALLY).isEqualTo(1));
		});
	}

	@Test
	void hitTakesTheLockUnlessTheCacheHasAnOrder() {
		this.runner.withUserConfiguration(Caching.class).run((context) -> {
			assertThat(methods(context).cached("book")).isOne();
			whileBusy(context, () -> assertThatExceptionOfType(LockBusyException.class)
				.isThrownBy(() -> methods(context).cached("book")));
		});
		this.runner.withUserConfiguration(CachingOutside.class).run((context) -> {
			assertThat(methods(context).cached("book")).isOne();
			whileBusy(context, () -> {
				assertThat(methods(context).cached("book")).isOne();
				assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> methods(context).cached("pen"));
			});
		});
	}

	// retry

	@Test
	void c8EveryAttemptOfSpringRetryTakesTheLockAnew() {
		this.runner.withUserConfiguration(SpringRetry.class).run((context) -> {
			assertThat(methods(context).retriedBySpringRetry()).hasSize(3).doesNotHaveDuplicates();
		});
	}

	@Test
	void c8OneLockForAllAttemptsOfSpringRetryIsPossible() {
		this.runner.withUserConfiguration(SpringRetry.class)
			.withPropertyValues("dlock.aop.order=" + (Ordered.LOWEST_PRECEDENCE - 2))
			.run((context) -> assertThat(methods(context).retriedBySpringRetry()).hasSize(3)
				.containsOnly(methods(context).lastToken()));
	}

	@Test
	void c8EveryAttemptOfTheFrameworkTakesTheLockAnew() {
		this.runner.withUserConfiguration(Resilience.class)
			.run((context) -> assertThat(methods(context).retriedByTheFramework()).hasSize(3).doesNotHaveDuplicates());
	}

	@Test
	void c8OneLockForAllAttemptsOfTheFrameworkIsPossible() {
		this.runner.withUserConfiguration(ResilienceInside.class)
			.run((context) -> assertThat(methods(context).retriedByTheFramework()).hasSize(3)
				.containsOnly(methods(context).lastToken()));
	}

	// concurrency limit

	@Test
	void callAboveTheConcurrencyLimitDoesNotAskForTheLock() {
		this.runner.withUserConfiguration(Resilience.class)
			.run((context) -> assertThat(secondOfTwoCalls(methods(context))).succeedsWithin(Patience.EVENTUALLY));
	}

	@Test
	void lockOutsideTheConcurrencyLimitIsPossible() {
		this.runner.withUserConfiguration(ResilienceInside.class)
			.run((context) -> assertThat(secondOfTwoCalls(methods(context))).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.withCauseInstanceOf(LockBusyException.class));
	}

	private static CompletableFuture<Boolean> secondOfTwoCalls(LayeredMethods methods) throws Exception {
		CountDownLatch inside = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		// the common pool may have one thread
		Executor threads = (call) -> new Thread(call).start();
		CompletableFuture<Boolean> first = CompletableFuture.supplyAsync(() -> methods.limited(inside, end), threads);
		inside.await();
		AtomicReference<Thread> caller = new AtomicReference<>();
		CompletableFuture<Boolean> second = CompletableFuture.supplyAsync(() -> {
			caller.set(Thread.currentThread());
			return methods.limited(new CountDownLatch(1), end);
		}, threads);
		Awaitility.await()
			.until(() -> second.isDone() || (caller.get() != null && caller.get().getState() == Thread.State.WAITING));
		end.countDown();
		assertThat(first).succeedsWithin(Patience.EVENTUALLY);
		return second;
	}

	// async, transactions, aspects

	@Test
	void threadThatDoesTheWorkTakesTheLock() {
		this.runner.withUserConfiguration(Async.class).run((context) -> {
			assertThat(methods(context).async()).succeedsWithin(Patience.EVENTUALLY).isEqualTo(true);
			whileBusy(context,
					() -> assertThat(methods(context).async()).failsWithin(Patience.EVENTUALLY)
						.withThrowableThat()
						.withCauseInstanceOf(LockBusyException.class));
		});
	}

	@Test
	void lockIsHeldWhenTheTransactionHasEndedWhateverItsOrder() {
		this.runner.run((context) -> assertThat(methods(context).transactional()).containsExactly("in transaction",
				"held after the transaction"));
		this.runner.withUserConfiguration(EarlyTransactions.class)
			.run((context) -> assertThat(methods(context).transactional()).containsExactly("in transaction",
					"held after the transaction"));
	}

	@Test
	void c7AspectWithAnOrderIsOutsideAndOneWithoutIsInside() {
		this.runner.run((context) -> {
			methods(context).advised();
			assertThat(methods(context).seen()).containsExactly("ordered, no lock", "unordered, lock");
		});
		this.runner.withPropertyValues("dlock.aop.order=0").run((context) -> {
			methods(context).advised();
			assertThat(methods(context).seen()).containsExactly("ordered, lock", "unordered, lock");
		});
	}

	@Test
	void orderOfAllThatHasNoneIsRefusedAtStart() {
		this.runner.withPropertyValues("dlock.aop.order=" + Ordered.LOWEST_PRECEDENCE)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("dlock.aop.order must be lower than 2147483647"));
	}

}
