package io.dlock.aop.call;

import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.dynamic.DynamicType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.aop.AbstractDistributedLockedTests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Results whose declared type does not say whether their work is done, and which are
 * therefore checked when the method returns them.
 */
class PendingResultsTests extends AbstractDistributedLockedTests {

	/** As the pages of Spring Data. */
	interface Page extends Iterable<String>, Supplier<Stream<String>> {

	}

	static class Plain {

		@DistributedLocked
		public Page page() {
			return new Page() {

				@Override
				public Iterator<String> iterator() {
					return List.of("").iterator();
				}

				@Override
				public Stream<String> get() {
					return Stream.of("");
				}

			};
		}

		@DistributedLocked
		public Class<? extends Runnable> type() {
			return Thread.class;
		}

		@DistributedLocked
		public Map<String, List<Object>> map() {
			return Map.of("a", List.of("b"));
		}

		@DistributedLocked
		public Iterable<String> list() {
			return List.of("");
		}

		@DistributedLocked
		public <E extends Enum<E>> E self(E one) {
			return one;
		}

		@DistributedLocked
		public Object nothing() {
			return Optional.empty();
		}

		@DistributedLocked
		public CompletableFuture<Optional<List<String>>> stage() {
			return CompletableFuture.completedFuture(Optional.of(List.of("")));
		}

	}

	@Test
	void resultWhoseWorkIsDoneIsNeitherRefusedNorAFailure() {
		Plain bean = bean(Plain.class);
		assertThat(bean.page()).containsExactly("");
		assertThat(bean.type()).isEqualTo(Thread.class);
		assertThat(bean.map()).containsKey("a");
		assertThat(bean.list()).containsExactly("");
		assertThat(bean.self(Thread.State.NEW)).isEqualTo(Thread.State.NEW);
		assertThat(bean.nothing()).isEqualTo(Optional.empty());
		assertThat(bean.stage().join()).isPresent();
	}

	abstract static class Template<T> {

		@DistributedLocked("'template'")
		public T run() {
			return result();
		}

		abstract T result();

	}

	static class StageTemplate extends Template<CompletableFuture<String>> {

		private final CompletableFuture<String> work = new CompletableFuture<>();

		@Override
		CompletableFuture<String> result() {
			return work();
		}

		CompletableFuture<String> work() {
			return this.work;
		}

	}

	/**
	 * The class of the method says only that it returns any object.
	 */
	@Test
	void r49TypeOfTheResultIsThatOfTheBean() {
		StageTemplate bean = bean(StageTemplate.class);
		CompletableFuture<String> result = bean.run();
		assertThat(result).isNotDone();
		this.context.getBean(StageTemplate.class).work().complete("done");
		assertThat(result.join()).isEqualTo("done");
		assertThat(this.registry.find("template")).isEmpty();
	}

	static class Unknown {

		@DistributedLocked
		public Object object(Object result) {
			return result;
		}

		@DistributedLocked
		public Optional<?> wildcard(Object result) {
			return Optional.of(result);
		}

		@DistributedLocked
		@SuppressWarnings("rawtypes")
		public List raw(Object result) {
			return List.of(result);
		}

		@DistributedLocked
		public <T> T variable(T result) {
			return result;
		}

		@DistributedLocked
		public Iterable<String> iterable(Iterable<String> result) {
			return result;
		}

		@DistributedLocked
		public CompletableFuture<Object> stage(Object result) {
			return CompletableFuture.completedFuture(result);
		}

		@DistributedLocked
		public Mono<Object> mono(Object result) {
			return Mono.just(result);
		}

		@DistributedLocked
		public Flux<?> flux(Object result) {
			return Flux.just("first", result);
		}

	}

	static Stream<Object> late() {
		Supplier<String> supplier = () -> "";
		Callable<String> callable = () -> "";
		Iterable<String> iterable = () -> List.of("").iterator();
		return Stream.of(CompletableFuture.completedFuture(""), Mono.just(""), Flux.just(""), Stream.of(""),
				List.of("").iterator(), supplier, callable, iterable);
	}

	@ParameterizedTest
	@MethodSource("late")
	void r49ResultOfUnknownTypeIsCheckedWhenReturned(Object late) {
		Unknown bean = bean(Unknown.class);
		assertThatIllegalStateException().isThrownBy(() -> bean.object(late))
			.withMessageContaining("Unknown.object")
			.withMessageContaining(late.getClass().getName())
			.withMessageContaining("Declare the type");
		assertThatIllegalStateException().isThrownBy(() -> bean.wildcard(late)).withMessageContaining(" in it");
		assertThatIllegalStateException().isThrownBy(() -> bean.raw(late));
		assertThatIllegalStateException().isThrownBy(() -> bean.variable(late));
		assertThatIllegalStateException().isThrownBy(() -> bean.object(new Object[] { late }));
		assertThatIllegalStateException().isThrownBy(() -> bean.object(Map.of("key", late)));
	}

	@Test
	void r49ResultOfUnknownTypeIsALazyIterable() {
		Unknown bean = bean(Unknown.class);
		assertThatIllegalStateException().isThrownBy(() -> bean.iterable(() -> List.of("").iterator()));
		assertThat(bean.iterable(List.of("done"))).containsExactly("done");
	}

	@ParameterizedTest
	@MethodSource("late")
	void r49ValueOfUnknownTypeIsCheckedWhenEmitted(Object late) {
		Unknown bean = bean(Unknown.class);
		assertThatException().isThrownBy(() -> bean.stage(late).join())
			.havingCause()
			.isInstanceOf(IllegalStateException.class)
			.withMessageContaining("may not be done");
		assertThatIllegalStateException().isThrownBy(() -> bean.mono(late).block())
			.withMessageContaining("may not be done");
		assertThatIllegalStateException().isThrownBy(() -> bean.flux(late).blockLast())
			.withMessageContaining("may not be done");
		assertThat(bean.mono("done").block()).isEqualTo("done");
		assertThat(bean.stage("done").join()).isEqualTo("done");
	}

	/**
	 * As a collection of Java is that another thread changes while it is copied.
	 */
	@Test
	void resultThatCannotBeReadIsDelivered() {
		Queue<Object> changing = Collections.asLifoQueue(new ArrayDeque<>() {

			@Override
			public Object[] toArray() {
				throw new ConcurrentModificationException();
			}

		});
		Unknown bean = bean(Unknown.class);
		assertThat(bean.object(changing) == changing).isTrue();
		assertThat(bean.stage(changing)).succeedsWithin(Duration.ofSeconds(20))
			.satisfies((result) -> assertThat(result == changing).isTrue());
		assertThat(bean.mono(changing).block() == changing).isTrue();
	}

	/**
	 * Hibernate loads what is behind the view, or fails because its session is closed.
	 */
	@Test
	void viewOfACollectionOfOthersIsNotReadAndOthersAre() {
		List<Object> lazy = new AbstractList<>() {

			@Override
			public Object get(int index) {
				throw new IllegalStateException("no session");
			}

			@Override
			public int size() {
				throw new IllegalStateException("no session");
			}

		};
		assertThat(PendingResults.find(Collections.unmodifiableList(lazy))).isNull();
		assertThat(PendingResults.find(List.of(Collections.synchronizedList(lazy)))).isNull();
		Stream<String> late = Stream.of();
		assertThat(PendingResults.find(Collections.singletonList(late))).isSameAs(late);
	}

	/**
	 * They are not on the class path of these tests.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "context.request.async.DeferredResult", "context.request.async.WebAsyncTask",
			"servlet.mvc.method.annotation.ResponseBodyEmitter",
			"servlet.mvc.method.annotation.StreamingResponseBody" })
	void r49ResultThatAWebServerWritesIsPending(String name) throws Exception {
		try (DynamicType.Unloaded<?> type = new ByteBuddy().subclass(Object.class)
			.name("org.springframework.web." + name)
			.make()) {
			Class<?> late = type.load(getClass().getClassLoader()).getLoaded();
			assertThat(PendingResults.isPending(late)).isTrue();
		}
	}

}
