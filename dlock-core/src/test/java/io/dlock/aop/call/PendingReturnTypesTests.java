package io.dlock.aop.call;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.aop.InvalidLockedMethodException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Return types that fail the start, since their work is done after the method has
 * returned, by themselves or inside of others. Those of a web server are in the tests of
 * the starter.
 */
class PendingReturnTypesTests extends AbstractDistributedLockedTests {

	/**
	 * A method that returns nothing but has the type.
	 *
	 * @param <T> the type
	 */
	static class Returns<T> {

		@DistributedLocked
		public T run() {
			throw new IllegalStateException("not reached");
		}

	}

	static class AStream extends Returns<Stream<String>> {

	}

	static class AnIntStream extends Returns<IntStream> {

	}

	static class AnIterator extends Returns<Iterator<String>> {

	}

	static class ASupplier extends Returns<Supplier<String>> {

	}

	static class AnIntSupplier extends Returns<IntSupplier> {

	}

	static class ARunnable extends Returns<Runnable> {

	}

	@ParameterizedTest
	@ValueSource(classes = { AStream.class, AnIntStream.class, AnIterator.class, ASupplier.class, AnIntSupplier.class,
			ARunnable.class })
	void r49ResultThatIsComputedWhenItIsUsed(Class<?> type) {
		assertRefused(type, "Return the value that it yields");
	}

	static class OfOptional extends Returns<Optional<CompletableFuture<String>>> {

	}

	static class OfList extends Returns<List<CompletableFuture<String>>> {

	}

	static class OfMap extends Returns<Map<String, ? extends Future<String>>> {

	}

	static class OfStage extends Returns<CompletableFuture<Mono<String>>> {

	}

	static class OfMono extends Returns<Mono<Optional<Flux<String>>>> {

	}

	static class OfFlowPublisher extends Returns<Optional<Flow.Publisher<String>>> {

	}

	static class OfArray {

		@DistributedLocked
		public CompletableFuture<String>[] run() {
			throw new IllegalStateException("not reached");
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { OfOptional.class, OfList.class, OfMap.class, OfStage.class, OfMono.class,
			OfFlowPublisher.class, OfArray.class })
	void r49WorkInsideOfAResult(Class<?> type) {
		assertRefused(type, "be the outermost type");
	}

	static class StreamOfStage extends Returns<CompletableFuture<Stream<String>>> {

	}

	static class SupplierOfList extends Returns<List<Supplier<String>>> {

	}

	@ParameterizedTest
	@ValueSource(classes = { StreamOfStage.class, SupplierOfList.class })
	void r49WorkInsideOfAResultThatIsComputedWhenItIsUsed(Class<?> type) {
		assertRefused(type, "Return the value that it yields");
	}

	private void assertRefused(Class<?> type, String action) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> bean(type))
			.satisfies((ex) -> assertThat(ex.getMostSpecificCause())
				.isInstanceOfSatisfying(InvalidLockedMethodException.class, (invalid) -> {
					assertThat(invalid.description()).contains("released too early");
					assertThat(invalid.action()).contains(action, "acquireAsync");
				}));
	}

}
