package io.dlock.aop.call;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.StoredLock;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Methods with a limit, in each way of waiting.
 */
@Timeout(60)
public class LimitedMethodTests extends AbstractDistributedLockedTests {

	static class Exports {

		@DistributedLimit(name = "export", limit = "2")
		public <T> T run(Supplier<T> body) {
			return body.get();
		}

		@DistributedLimit(name = "export", key = "#customer", limit = "${export.limit:1}")
		public <T> T runFor(String customer, Supplier<T> body) {
			return body.get();
		}

		@DistributedLimit(name = "export", limit = "2")
		public Object unfinished() {
			return new CompletableFuture<>();
		}

		@DistributedLimit(name = "export", limit = "2")
		public @Nullable Mono<String> nothing() {
			return null;
		}

		@DistributedLimit(name = "export", limit = "1", onBusy = OnBusy.SKIP)
		public @Nullable String skipped() {
			return "ran";
		}

		@DistributedLimit(name = "export", limit = "1", fallback = "instead")
		public String replaced() {
			return "ran";
		}

		private String instead() {
			return "instead";
		}

		@DistributedLimit(name = "export", limit = "1")
		public void losing(Runnable loss) {
			loss.run();
		}

		@DistributedLimit(name = "export", limit = "1", onLost = OnLost.IGNORE)
		public String losingCarelessly(Runnable loss) {
			loss.run();
			return "done";
		}

		@DistributedLimit(name = "rate", limit = "2", minHold = "30s")
		public void started() {
		}

		@DistributedLocked("'export'")
		public <T> T locked(Supplier<T> body) {
			return body.get();
		}

		@DistributedLimit(name = "export", limit = "2", waitTime = "20s")
		public CompletableFuture<String> stage(CompletableFuture<String> work) {
			return work;
		}

		@Async
		@DistributedLimit(name = "export", limit = "2", waitTime = "20s")
		public CompletableFuture<String> async(CompletableFuture<String> work) {
			return work;
		}

		@DistributedLimit(name = "export", limit = "2", waitTime = "20s")
		public Mono<String> mono(CompletableFuture<String> work) {
			return Mono.fromFuture(work);
		}

		@DistributedLimit(name = "export", limit = "2", waitTime = "20s")
		public Flux<String> flux(CompletableFuture<String> work) {
			return Mono.fromFuture(work).flux();
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLimit(name = "report", limit = "2")
	@interface ReportLimit {

		@AliasFor(annotation = DistributedLimit.class)
		String limit() default "1";

	}

	static class Reports {

		@ReportLimit
		public <T> T run(Supplier<T> body) {
			return body.get();
		}

		@ReportLimit(limit = "2")
		public <T> T runBeside(Supplier<T> body) {
			return body.get();
		}

	}

	@ReportLimit(limit = "2")
	public static class LimitedReports {

		public <T> T run(Supplier<T> body) {
			return body.get();
		}

		public <T> T runOther(Supplier<T> body) {
			return body.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	static class Config {

	}

	private final Exports exports = exports();

	private final LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.registry.settings());

	private Exports exports() {
		this.context.register(Config.class, Reports.class, LimitedReports.class);
		return bean(Exports.class);
	}

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.store.inspection().list(10).locks())
				.filteredOn((lock) -> !lock.storageKey().equals("limit:rate"))
				.isEmpty());
		assertThat(LockContext.all()).isEmpty();
		this.other.close();
	}

	private boolean isFree(String key, int limit) {
		Optional<LockHandle> permit = this.other.tryAcquirePermit(key, limit, Duration.ZERO);
		permit.ifPresent(LockHandle::release);
		return permit.isPresent();
	}

	@Test
	void failuresNameTheLimit() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(this.exports::unfinished)
			.withMessageStartingWith("@DistributedLimit method ");
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.exports.nothing().block())
			.withMessageStartingWith("@DistributedLimit method ");
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> this.exports.runFor(null, () -> "never"))
			.withMessageContaining("of @DistributedLimit on ");
	}

	@Test
	void eachCallTakesAPermitOfTheLimitOfAllProcesses() {
		String inner = this.exports.run(() -> {
			assertThat(LockHandle.current()).map(LockHandle::key).hasValue("limit:export");
			assertThat(isFree("export", 1)).isFalse();
			assertThat(isFree("export", 2)).isTrue();
			return this.exports.run(() -> {
				assertThat(isFree("export", 2)).isFalse();
				assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.exports.run(() -> "third"))
					.withMessageStartingWith("The limit of 2 for 'export' is reached; one permit is held by ")
					.satisfies((ex) -> assertThat(ex.key()).isEqualTo("limit:export"));
				return "second";
			});
		});
		assertThat(inner).isEqualTo("second");
		try (LockHandle elsewhere = this.other.acquirePermit(LockRequest.of("export"), 1)) {
			assertThat(this.exports.run(() -> LockHandle.current().orElseThrow().token()))
				.isNotEqualTo(elsewhere.token());
		}
	}

	@Test
	void eachKeyHasALimitOfItsOwn() {
		assertThat(this.exports.runFor("a", () -> this.exports.runFor("b", () -> {
			assertThatExceptionOfType(LockBusyException.class)
				.isThrownBy(() -> this.exports.runFor("a", () -> "second"));
			return "first of each";
		}))).isEqualTo("first of each");
	}

	@Test
	void composedAnnotationLimits() {
		Reports reports = this.context.getBean(Reports.class);
		assertThat(reports.<String>run(() -> {
			assertThat(LockHandle.current()).map(LockHandle::key).hasValue("limit:report");
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> reports.run(() -> "second"));
			return reports.runBeside(() -> "beside");
		})).isEqualTo("beside");
	}

	@Test
	void methodsOfALimitedClassCountTogether() {
		LimitedReports reports = this.context.getBean(LimitedReports.class);
		assertThat(reports.<String>run(() -> reports.runOther(() -> {
			assertThat(isFree("report", 2)).isFalse();
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> reports.run(() -> "third"));
			return "two at a time";
		}))).isEqualTo("two at a time");
	}

	@Test
	void exhaustedLimitSkipsOrIsReplaced() {
		this.exports.run(() -> {
			assertThat(this.exports.skipped()).isNull();
			assertThat(this.exports.replaced()).isEqualTo("instead");
			return true;
		});
		assertThat(this.exports.skipped()).isEqualTo("ran");
		assertThat(this.exports.replaced()).isEqualTo("ran");
	}

	@Test
	void lockOfTheSameNameIsAnother() {
		assertThat(this.exports.locked(() -> this.exports.run(() -> this.exports.locked(() -> "both"))))
			.isEqualTo("both");
	}

	@Test
	void lostPermitIsTold() {
		Runnable loss = () -> ForcedLoss.ofCurrent(this.registry);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.exports.losing(loss));
		assertThat(this.exports.losingCarelessly(loss)).isEqualTo("done");
	}

	@Test
	void permitStaysTakenForItsMinHold() {
		this.exports.started();
		this.exports.started();
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.exports.started());
	}

	@Test
	void listenersSeePermits() {
		List<String> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(
				(event) -> events.add(event.getClass().getSimpleName() + " " + event.key() + " " + event.name()));
		this.exports.runFor("a", () -> "ran");
		Awaitility.await()
			.untilAsserted(() -> assertThat(events).containsExactly("Acquired limit:export:a export",
					"Released limit:export:a export"));
	}

	static Stream<BiFunction<Exports, CompletableFuture<String>, CompletableFuture<?>>> drivers() {
		return Stream.of(Exports::stage, Exports::async, (exports, work) -> exports.mono(work).toFuture(),
				(exports, work) -> exports.flux(work).collectList().toFuture());
	}

	@ParameterizedTest
	@MethodSource("drivers")
	void permitIsHeldUntilTheWorkIsDone(BiFunction<Exports, CompletableFuture<String>, CompletableFuture<?>> driver) {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<?> first = driver.apply(this.exports, work);
		CompletableFuture<?> second = driver.apply(this.exports, work);
		try {
			Awaitility.await().until(() -> !this.store.inspection().list(10).locks().isEmpty());
			assertThat(this.store.inspection().list(10).locks()).extracting(StoredLock::storageKey)
				.containsOnly("limit:export");
			Awaitility.await().until(() -> !isFree("export", 2));
			CompletableFuture<?> third = driver.apply(this.exports, CompletableFuture.completedFuture("third"));
			assertThat(List.of(first, second, third)).noneMatch(CompletableFuture::isDone);
			work.complete("done");
			CompletableFuture.allOf(first, second, third).join();
		}
		finally {
			work.complete("done");
		}
		assertThat(isFree("export", 1)).isTrue();
	}

}
