package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.aop.InvalidLockedMethodException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Responses whose body is written after the controller has returned.
 */
class PendingWebResultsTests {

	private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class))
		.withPropertyValues("dlock.backend=memory");

	static class Streaming {

		@DistributedLocked
		public StreamingResponseBody run() {
			return (output) -> {
			};
		}

	}

	static class StreamingEntity {

		@DistributedLocked
		public ResponseEntity<StreamingResponseBody> run() {
			return ResponseEntity.noContent().build();
		}

	}

	static class EmitterEntity {

		@DistributedLocked
		public ResponseEntity<SseEmitter> run() {
			return ResponseEntity.noContent().build();
		}

	}

	static class OwnEmitter {

		static class Ticker extends SseEmitter {

		}

		@DistributedLocked
		public Ticker run() {
			return new Ticker();
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { Streaming.class, StreamingEntity.class, EmitterEntity.class, OwnEmitter.class })
	void r49BodyThatIsWrittenLaterIsRefused(Class<?> type) {
		assertRefused(type, "Take the lock where the response is written");
	}

	static class MonoEntity {

		@DistributedLocked
		public ResponseEntity<Mono<String>> run() {
			return ResponseEntity.noContent().build();
		}

	}

	static class FluxEntity {

		@DistributedLocked
		public Mono<ResponseEntity<Flux<String>>> run() {
			return Mono.empty();
		}

	}

	static class StageEntity {

		@DistributedLocked
		public HttpEntity<CompletableFuture<String>> run() {
			return new HttpEntity<>(CompletableFuture.completedFuture(""));
		}

	}

	static class Deferred {

		@DistributedLocked
		public DeferredResult<String> run() {
			return new DeferredResult<>();
		}

	}

	static class CallableEntity {

		@DistributedLocked
		public ResponseEntity<Callable<String>> run() {
			return ResponseEntity.noContent().build();
		}

	}

	@ParameterizedTest
	@ValueSource(
			classes = { MonoEntity.class, FluxEntity.class, StageEntity.class, Deferred.class, CallableEntity.class })
	void r49BodyThatIsComputedLaterIsRefused(Class<?> type) {
		assertRefused(type, "a CompletableFuture or, with reactor-core, a Mono");
	}

	private void assertRefused(Class<?> type, String action) {
		this.runner.withBean(type)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(InvalidLockedMethodException.class, (ex) -> {
					assertThat(ex.description()).contains("released too early");
					assertThat(ex.action()).contains(action);
				}));
	}

	static class Unknown {

		@DistributedLocked
		public ResponseEntity<?> wildcard(Object body) {
			return ResponseEntity.ok(body);
		}

		@DistributedLocked
		public Mono<ResponseEntity<Object>> mono(Object body) {
			return Mono.just(ResponseEntity.ok(body));
		}

		@DistributedLocked
		public Object object(Object result) {
			return result;
		}

	}

	@Test
	void r49BodyOfUnknownTypeIsCheckedWhenReturned() {
		AtomicBoolean written = new AtomicBoolean();
		StreamingResponseBody streaming = (output) -> written.set(true);
		this.runner.withBean(Unknown.class).run((context) -> {
			Unknown unknown = context.getBean(Unknown.class);
			for (Object late : new Object[] { streaming, new SseEmitter(), Mono.just(""),
					CompletableFuture.completedFuture("") }) {
				assertThatIllegalStateException().isThrownBy(() -> unknown.wildcard(late))
					.withMessageContaining("in it");
				assertThatIllegalStateException().isThrownBy(() -> unknown.mono(late).block());
				assertThatIllegalStateException().isThrownBy(() -> unknown.object(late));
			}
			assertThat(unknown.wildcard("body").getBody()).isEqualTo("body");
			assertThat(unknown.wildcard(null).getBody()).isNull();
			assertThat(unknown.mono("body").block()).isEqualTo(ResponseEntity.ok("body"));
		});
		assertThat(written).isFalse();
	}

	/** Not public, as classes of an application need not be. */
	private static final class OwnEntity extends HttpEntity<Object> {

		OwnEntity(Object body) {
			super(body);
		}

	}

	private static final class BrokenEntity extends HttpEntity<String> {

		@Override
		public String getBody() {
			throw new IllegalStateException("no session");
		}

	}

	static class UnknownStage {

		@DistributedLocked
		public CompletableFuture<Object> run(Object result) {
			return CompletableFuture.completedFuture(result);
		}

	}

	@Test
	void bodyOfAnEntityOfTheApplicationIsRead() {
		this.runner.withBean(Unknown.class).withBean(UnknownStage.class).run((context) -> {
			Unknown unknown = context.getBean(Unknown.class);
			UnknownStage stage = context.getBean(UnknownStage.class);
			for (HttpEntity<?> done : List.of(new OwnEntity("body"), new BrokenEntity())) {
				assertThat(unknown.object(done)).isSameAs(done);
				assertThat(stage.run(done)).succeedsWithin(TEN_SECONDS).isSameAs(done);
			}
			OwnEntity late = new OwnEntity(new CompletableFuture<>());
			assertThatIllegalStateException().isThrownBy(() -> unknown.object(late));
			assertThat(stage.run(late)).failsWithin(TEN_SECONDS)
				.withThrowableThat()
				.withCauseInstanceOf(IllegalStateException.class);
		});
	}

	static class AsyncTask {

		@DistributedLocked
		public WebAsyncTask<String> run() {
			return new WebAsyncTask<>(() -> "");
		}

	}

	@Test
	void r49TaskThatAWebServerRunsLaterIsRefused() {
		assertRefused(AsyncTask.class, "a CompletableFuture or, with reactor-core, a Mono");
	}

}
