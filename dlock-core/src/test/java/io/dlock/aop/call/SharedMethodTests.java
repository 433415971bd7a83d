package io.dlock.aop.call;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.engine.LeaseLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Methods with a shared lock, in each way of waiting.
 */
@Timeout(60)
public class SharedMethodTests extends AbstractDistributedLockedTests {

	static class Stock {

		@DistributedLocked(name = "stock", key = "#product", mode = LockMode.SHARED)
		public <T> T read(String product, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(name = "stock", keys = "#products", mode = LockMode.SHARED)
		public <T> T readAll(List<String> products, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(name = "stock", key = "#product")
		public <T> T write(String product, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(name = "stock", key = "#product", mode = LockMode.SHARED, waitTime = "20s")
		public CompletableFuture<String> stage(String product, Supplier<CompletableFuture<String>> body) {
			return body.get();
		}

		@Async
		@DistributedLocked(name = "stock", key = "#product", mode = LockMode.SHARED, waitTime = "20s")
		public CompletableFuture<String> async(String product, Supplier<CompletableFuture<String>> body) {
			return body.get();
		}

		@DistributedLocked(name = "stock", key = "#product", mode = LockMode.SHARED, waitTime = "20s")
		public Mono<String> mono(String product, Mono<String> body) {
			return body;
		}

		@DistributedLocked(name = "stock", key = "#product", mode = LockMode.SHARED, waitTime = "20s")
		public Flux<String> flux(String product, Mono<String> body) {
			return body.flux();
		}

		@DistributedLocked(name = "stock", key = "#product", waitTime = "20s")
		public CompletableFuture<String> writeLater(String product) {
			return CompletableFuture.completedFuture("written");
		}

		@DistributedLocked(name = "stock", key = "#product", waitTime = "20s")
		public Mono<String> writeMono(String product) {
			return Mono.just("written");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	static class Config {

	}

	private final Stock stock = stock();

	private final LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.registry.settings());

	private Stock stock() {
		this.context.register(Config.class);
		return bean(Stock.class);
	}

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().untilAsserted(() -> assertThat(this.store.inspection().list(10).locks()).isEmpty());
		assertThat(LockContext.all()).isEmpty();
		this.other.close();
	}

	private boolean isOpenTo(LockMode mode, String product) {
		Optional<LockHandle> handle = this.other
			.tryAcquire(LockRequest.builder("stock:" + product).mode(mode).waitTime(Duration.ZERO).build());
		handle.ifPresent(LockHandle::release);
		return handle.isPresent();
	}

	private boolean isShared(String product) {
		return isOpenTo(LockMode.SHARED, product) && !isOpenTo(LockMode.EXCLUSIVE, product);
	}

	@Test
	void readersRunTogetherAndKeepWritersOut() {
		String inner = this.stock.read("book", () -> {
			assertThat(LockHandle.current()).map(LockHandle::mode).hasValue(LockMode.SHARED);
			assertThat(isShared("book")).isTrue();
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> inOtherThread(() -> write("book")));
			return inOtherThread(() -> this.stock.read("book", () -> "read"));
		});
		assertThat(inner).isEqualTo("read");
		assertThat(write("book")).isEqualTo("written");
	}

	private String write(String product) {
		return this.stock.write(product, () -> {
			assertThat(isOpenTo(LockMode.SHARED, product)).isFalse();
			return "written";
		});
	}

	private static String inOtherThread(Supplier<String> call) {
		return Mono.fromSupplier(call).subscribeOn(Schedulers.boundedElastic()).blockOptional().orElseThrow();
	}

	static Stream<BiFunction<Stock, CompletableFuture<String>, CompletableFuture<?>>> drivers() {
		return Stream.of((stock, work) -> stock.stage("book", () -> work),
				(stock, work) -> stock.async("book", () -> work),
				(stock, work) -> stock.mono("book", Mono.fromFuture(work)).toFuture(),
				(stock, work) -> stock.flux("book", Mono.fromFuture(work)).collectList().toFuture());
	}

	@ParameterizedTest
	@MethodSource("drivers")
	void lockIsSharedUntilTheWorkIsDone(BiFunction<Stock, CompletableFuture<String>, CompletableFuture<?>> driver) {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<?> first = driver.apply(this.stock, work);
		CompletableFuture<?> second = driver.apply(this.stock, CompletableFuture.completedFuture("second"));
		second.join();
		Awaitility.await().until(() -> this.store.find("stock:book").isPresent());
		assertThat(isShared("book")).isTrue();
		assertThat(first).isNotDone();
		work.complete("done");
		first.join();
		assertThat(isOpenTo(LockMode.EXCLUSIVE, "book")).isTrue();
	}

	@Test
	void severalKeysAreShared() {
		String inner = this.stock.readAll(List.of("pen", "book"), () -> {
			assertThat(LockContext.all()).hasSize(2).extracting(LockHandle::mode).containsOnly(LockMode.SHARED);
			assertThat(isShared("book") && isShared("pen")).isTrue();
			return inOtherThread(() -> this.stock.readAll(List.of("book", "cup"), () -> "read"));
		});
		assertThat(inner).isEqualTo("read");
	}

	@Test
	void sharedMethodRunsInAnExclusiveOne() {
		assertThat(this.stock.write("book", () -> this.stock.read("book", () -> {
			assertThat(isOpenTo(LockMode.SHARED, "book")).isFalse();
			return "read";
		}))).isEqualTo("read");
	}

	@Test
	void upgradeIsRefusedAtOnce() {
		assertThatIllegalStateException().isThrownBy(() -> this.stock.read("book", () -> write("book")))
			.withMessageContaining("Lock 'stock:book' cannot be upgraded");
		assertThat(this.stock.stage("book", () -> this.stock.writeLater("book"))).failsWithin(Duration.ofSeconds(15))
			.withThrowableThat()
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("cannot be upgraded");
		assertThat(this.stock.mono("book", this.stock.writeMono("book")).toFuture()).failsWithin(Duration.ofSeconds(15))
			.withThrowableThat()
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("cannot be upgraded");
	}

}
