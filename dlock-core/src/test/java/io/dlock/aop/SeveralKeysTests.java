package io.dlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.annotation.AliasFor;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockKeyConverter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * The keys of a method that locks several at once.
 */
public class SeveralKeysTests extends AbstractDistributedLockedTests {

	record Line(@Nullable String sku, int quantity) {

	}

	record Order(long id, @Nullable List<Line> lines, String[] tags) {

		@SuppressWarnings("unused")
		public Stream<String> skus() {
			return lines().stream().map(Line::sku);
		}

		static Order of(String... skus) {
			return new Order(7, Arrays.stream(skus).map((sku) -> new Line(sku, 1)).toList(), skus);
		}

	}

	static class Stock {

		/** The keys in the order in which the thread has acquired them. */
		private static List<String> held() {
			List<String> keys = new ArrayList<>(LockContext.all().stream().map(LockHandle::key).toList());
			Collections.reverse(keys);
			return keys;
		}

		@DistributedLocked("#products.next()")
		public List<String> ofNext(Iterator<String> products) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#order.lines.![sku]")
		public List<String> ofLines(Order order) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#order.lines.?[quantity > 0].![sku + '/' + quantity]")
		public List<String> ofSome(Order order) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#order.skus()")
		public List<String> ofStream(Order order) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#order.tags")
		public List<String> ofArray(Order order) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = { "#from", "#to" })
		public List<String> transfer(@Nullable Long from, long to) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = { "'order-' + #order.id", "#order.lines.![sku]" })
		public List<String> withOrder(Order order) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#values")
		public List<String> of(@Nullable Object values) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#order.lines?.![sku] ?: { #order.id, 'x' + #order.id }")
		public List<String> orElse(Order order) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#map.keySet()")
		public List<String> ofMap(Map<String, Integer> map) {
			return held();
		}

		@DistributedLocked(name = "stock", keys = "#sku.stream()")
		public List<String> ofOptional(Optional<String> sku) {
			return held();
		}

	}

	@Test
	void eachElementIsAKeyAndTheOrderIsThatOfTheKeys() {
		Stock stock = bean(Stock.class);
		assertThat(stock.ofLines(Order.of("pen", "book", "pen"))).containsExactly("stock:book", "stock:pen");
		assertThat(stock.ofStream(Order.of("pen", "book"))).containsExactly("stock:book", "stock:pen");
		assertThat(stock.ofArray(Order.of("pen", "book"))).containsExactly("stock:book", "stock:pen");
		assertThat(stock.ofSome(new Order(7, List.of(new Line("pen", 0), new Line("book", 2)), new String[0])))
			.containsExactly("stock:book/2");
		assertThat(stock.transfer(2L, 1)).containsExactly("stock:1", "stock:2");
		assertThat(stock.withOrder(Order.of("pen"))).containsExactly("stock:order-7", "stock:pen");
		assertThat(stock.withOrder(Order.of())).containsExactly("stock:order-7");
		assertThat(stock.orElse(new Order(7, null, new String[0]))).containsExactly("stock:7", "stock:x7");
		assertThat(stock.ofMap(Map.of("pen", 1, "book", 2))).containsExactly("stock:book", "stock:pen");
		assertThat(stock.ofOptional(Optional.of("pen"))).containsExactly("stock:pen");
		assertThat(LockContext.all()).isEmpty();
		assertThat(this.store.inspection().list(10).locks()).isEmpty();
	}

	static Stream<Object> values() {
		return Stream.of(arguments("a", "[stock:a]"),
				arguments(List.of("b", 1L, true), "[stock:1, stock:b, stock:true]"),
				arguments(new LinkedHashSet<>(List.of("b", "a")), "[stock:a, stock:b]"),
				arguments(new int[] { 2, 1, 2 }, "[stock:1, stock:2]"),
				arguments(List.of("1", 1, new StringBuilder("1")), "[stock:1]"),
				arguments(List.of(new Line("pen", 1)), "[stock:[\"pen\",1]]"),
				arguments(List.of(new String[] { "a", "b" }, "c"), "[stock:[\"a\",\"b\"], stock:c]"),
				arguments((Iterable<String>) () -> List.of("b", "a").iterator(), "[stock:a, stock:b]"));
	}

	@ParameterizedTest
	@MethodSource("values")
	void valueIsOneKeyOrSeveral(Object value, String keys) {
		assertThat(bean(Stock.class).of(value)).hasToString(keys);
	}

	@Test
	void typeWithAConverterIsOneKey() {
		this.context.registerBean(LockKeyConverter.class,
				() -> new LockKeyConverter<>(Iterable.class, (all) -> "all of " + all));
		assertThat(bean(Stock.class).of(List.of("a", "b"))).containsExactly("stock:all of [a, b]");
	}

	static Stream<Object> refused() {
		return Stream.of(arguments(null, "is null for this call"), arguments(List.of(), "are empty for this call"),
				arguments(new String[0], "are empty for this call"), arguments(Optional.of("a"), "Optional"),
				arguments(Optional.empty(), "stream()"), arguments(Map.of("a", "b"), "#map.keySet()"),
				arguments(Arrays.asList("a", null), "has the part [1], which is null"),
				arguments(List.of("a", " "), "has the part [1], which is blank"),
				arguments(List.of("a", Optional.of("b")), "has the part [1], which is an Optional"),
				arguments(List.of(List.of("a")), "has the part [0], which is a java.util.ImmutableCollections"),
				arguments(List.of("a", Map.of()), "has the part [1]"),
				arguments(new Object[] { "a", new Object() }, "has the part [1], which is a java.lang.Object"),
				arguments(" ", "is blank"), arguments(new Object(), "LockKeyConverter"),
				arguments(IntStream.range(0, 65).boxed().toList(), "the limit of 64 keys"),
				arguments(Stream.of("a"), "could not read again"),
				arguments(List.of("a").iterator(), "could not read again"));
	}

	@ParameterizedTest
	@MethodSource("refused")
	void valueThatIsNoKeyIsRefusedAtTheCall(@Nullable Object value, String message) {
		Stock stock = bean(Stock.class);
		assertThatIllegalArgumentException().isThrownBy(() -> stock.of(value))
			.withMessageContaining("'#values' of @DistributedLocked on " + Stock.class.getName() + ".of")
			.withMessageContaining(message);
		assertThat(this.store.inspection().list(10).locks()).isEmpty();
	}

	@Test
	void messageNamesTheExpressionWhoseMethodFails() {
		Stock stock = bean(Stock.class);
		assertThatIllegalArgumentException().isThrownBy(() -> stock.ofNext(List.<String>of().iterator()))
			.withMessageContaining("The key '#products.next()' of @DistributedLocked on ")
			.withMessageContaining("could not be evaluated for this call")
			.withCauseInstanceOf(NoSuchElementException.class);
	}

	@Test
	void messageNamesTheExpressionThatHasNoKey() {
		Stock stock = bean(Stock.class);
		assertThatIllegalArgumentException().isThrownBy(() -> stock.transfer(null, 1))
			.withMessageContaining("The key '#from' of @DistributedLocked on ");
		assertThatIllegalArgumentException().isThrownBy(() -> stock.ofLines(Order.of("pen", null)))
			.withMessageContaining("'#order.lines.![sku]'")
			.withMessageContaining("[1], which is null");
		assertThatIllegalArgumentException().isThrownBy(() -> stock.ofLines(null))
			.withMessageContaining("could not be evaluated for this call, in which #order is null");
		assertThatIllegalArgumentException().isThrownBy(() -> stock.ofLines(Order.of()))
			.withMessageContaining("The keys '#order.lines.![sku]' of ")
			.withMessageContaining("add a key that is always there");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> stock
				.withOrder(Order.of(IntStream.range(0, 64).mapToObj(Integer::toString).toArray(String[]::new))))
			.withMessageContaining("'#order.lines.![sku]'")
			.withMessageContaining("the limit of 64 keys");
		assertThatIllegalArgumentException().isThrownBy(() -> stock.ofOptional(Optional.empty()))
			.withMessageContaining("are empty for this call");
	}

	@Test
	void sixtyFourKeysAreLockedAndDuplicatesDoNotCount() {
		List<Integer> keys = IntStream.range(0, 64).boxed().toList();
		List<Integer> twice = Stream.concat(keys.stream(), keys.stream()).toList();
		assertThat(bean(Stock.class).of(twice)).hasSize(64);
	}

	static class Endless {

		public Stream<Integer> numbers() {
			return Stream.iterate(0, (n) -> n + 1);
		}

		@SuppressWarnings("unused")
		public Iterator<String> iterator() {
			return Set.of("a").iterator();
		}

		@DistributedLocked(name = "stock", keys = "#p0.numbers()")
		public void run(Endless endless) {
		}

		@DistributedLocked(name = "stock", keys = "#p0.iterator()")
		public List<String> once(Endless endless) {
			return Stock.held();
		}

	}

	@Test
	void streamIsReadNoFurtherThanTheLimit() {
		Endless endless = bean(Endless.class);
		assertThatIllegalArgumentException().isThrownBy(() -> endless.run(new Endless()))
			.withMessageContaining("the limit of 64 keys");
		assertThat(endless.once(new Endless())).containsExactly("stock:a");
	}

	static class Closed {

		private int closed;

		@DistributedLocked(name = "stock", keys = "#p0.keys()")
		public int run(Closed other) {
			return other.closed;
		}

		public Stream<String> keys() {
			return Stream.of("a").onClose(() -> this.closed++);
		}

	}

	@Test
	void streamIsClosed() {
		assertThat(bean(Closed.class).run(new Closed())).isOne();
	}

	static class Composed {

		@Retention(RetentionPolicy.RUNTIME)
		@DistributedLocked(name = "stock", keys = {})
		@interface StockLocked {

			@AliasFor(annotation = DistributedLocked.class, attribute = "keys")
			String[] products();

		}

		@StockLocked(products = { "'x'", "#p0" })
		public List<String> run(String product) {
			return Stock.held();
		}

	}

	@Test
	void composedAnnotationPassesItsKeysOn() {
		assertThat(bean(Composed.class).run("pen")).containsExactly("stock:pen", "stock:x");
	}

}
