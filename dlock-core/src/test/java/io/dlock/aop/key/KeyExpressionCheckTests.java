package io.dlock.aop.key;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The expressions that are refused at the start; all others give a key at the call.
 */
class KeyExpressionCheckTests {

	public record Item(String sku, @Nullable String size, int count) {

	}

	public static class Base {

	}

	public interface HasId {

		long id();

	}

	public record Box<X>(X value) {

	}

	public static final class Order extends Base implements HasId {

		@Override
		public long id() {
			return 7;
		}

		public long getId() {
			return 7;
		}

	}

	/**
	 * A class of the application with a proper text.
	 */
	public static final class ObjectId {

		@Override
		public String toString() {
			return "507f";
		}

	}

	public static final class Nameless {

	}

	abstract static class Event {

		public String aggregateId() {
			return "order";
		}

	}

	/**
	 * Its method is one of the compiler, which bridges to the class above that is not
	 * public.
	 */
	public static final class OrderPlaced extends Event {

	}

	@SuppressWarnings("unused")
	static class Methods<E extends Base & HasId> {

		void numbers(long customerId, Integer orderId, double rate, String[] shards, String a, String b,
				Map<String, String> map, Object any) {
		}

		void texts(ObjectId objectId, Path path, Nameless nameless, Item item, Item[] items, List<String> list,
				Optional<String> optional, Thread.State state) {
		}

		void rooted(Item root) {
		}

		void events(OrderPlaced event) {
		}

		<T extends Base & HasId> void bounds(T order, E own, List<? extends T> list, Map<String, ? extends T> map,
				Optional<T> optional, Box<? extends T> box) {
		}

		<T extends Number & Comparable<T>> void sums(Object x, Object y, T number, List<? super Integer> list,
				Map<String, String> map, Integer boxed) {
		}

	}

	private static final Map<String, @Nullable Object[]> ARGUMENTS = Map.of("numbers",
			new Object[] {
					100L, 7, 0.5, new String[] { "s0", "s1", "s2", "s3", "s4" }, "a", "b", Map.of("ab", "c"), 4 },
			"texts",
			new Object[] { new ObjectId(), Path.of("a"), new Nameless(), new Item("shoe", null, 2),
					new Item[] { new Item("shoe", "m", 2) }, List.of("x"), Optional.of("x"), Thread.State.NEW },
			"bounds",
			new Object[] { new Order(), new Order(), List.of(new Order()), Map.of("a", new Order()),
					Optional.of(new Order()), new Box<>(new Order()) },
			"sums", new Object[] { "b", "c", 3, List.of("d", "e"), Map.of("3", "f"), 4 }, "events",
			new Object[] { new OrderPlaced() });

	private static LockKey key(String method, String expression) {
		Method annotated = Arrays.stream(Methods.class.getDeclaredMethods())
			.filter((candidate) -> candidate.getName().equals(method))
			.findFirst()
			.orElseThrow();
		return LockKey.of(annotated, Methods.class, "", expression, new KeyValueFormatter(List::of));
	}

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			# arithmetic
			numbers | (#customerId * 31 + #orderId) % 64 | 35
			numbers | (#a.hashCode() + #b.hashCode()) % 16 | 3
			numbers | (#a.compareTo(#b) + 2) * 2 | 2
			numbers | #shards[#orderId % 4 + 1] | s4
			numbers | (#customerId - 1 + -#orderId) / 2 | 46
			numbers | (#orderId ^ 2 + 1) % 10 | 0
			numbers | 'shard-' + (#customerId * 31 + #orderId) % 64 | shard-35
			numbers | (#any + 1) % 2 | 1
			numbers | (#rate * 2 + 1) / 4 | 0.5
			# a toString() of the class itself
			texts | #objectId.toString() | 507f
			texts | #path.toString() | a
			texts | #item.count.toString() | 2
			# several values
			texts | #items.![count + 1] | [3]
			texts | #items.![sku + '-' + size] | ["shoe-m"]
			texts | #items.![#this.sku] | ["shoe"]
			texts | #items.?[count + 1 == 3][0].sku | shoe
			# one of several bounds
			bounds | #order.id | 7
			bounds | #order.id() | 7
			# a method of a class that is not public
			events | #event.aggregateId() | order
			events | #event.aggregateId() + '-' + #event.aggregateId | order-order
			bounds | #own.id | 7
			bounds | #list[0].id | 7
			bounds | #list.get(0).id | 7
			bounds | #map['a'].id | 7
			bounds | #optional?.id | 7
			bounds | #box.value.id | 7
			sums | #number | 3
			sums | #number.toString() | 3
			sums | (#number + #boxed) % 5 | 2
			# a sum within a concatenation
			sums | 'a' + (#x + #y) | abc
			sums | 'a' + (#number + #boxed) | a7
			sums | 'a' + (#list[0] + #list[1]) | ade
			""")
	void c2ExpressionHasAKey(String method, String expression, String key) {
		assertThat(key(method, expression).evaluate(ARGUMENTS.get(method))).containsExactly(key);
	}

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			# null would become text
			numbers | #map[#a + #b] | null would become the text "null"
			numbers | #map[#any + 'b'] | null would become the text "null"
			texts | #items.?[sku + '-' + size == 'a-null'][0].sku | null would become the text "null"
			sums | #map[#x + #y] | null would become the text "null"
			sums | #map[#x + #boxed] | null would become the text "null"
			sums | #map[#x * 2 + #boxed] | null would become the text "null"
			sums | #map[(#x + 1) + #y] | null would become the text "null"
			sums | #map[#list[0] + #list[1]] | null would become the text "null"
			sums | (#x + #y) * 2 | null would become the text "null"
			# no bound has a text
			bounds | #order | Base: that has no text
			bounds | #own | Base: that has no text
			bounds | #list[0] | Base: that has no text
			bounds | #list.get(0) | Base: that has no text
			bounds | #map['a'] | Base: that has no text
			bounds | #optional | Base: that has no text
			bounds | #box | Base: that has no text
			bounds | #list | several values
			# a toString() that does not say the value
			texts | #nameless.toString() | LockKeyConverter
			texts | #item.toString() | Leave out toString()
			texts | #items.toString() | Leave out toString()
			texts | #optional.toString() | Leave out toString()
			texts | #list.toString() | several values
			bounds | #order.toString() | Base: that has no text
			bounds | #list[0].toString() | Base: that has no text
			# a hashCode() that differs from process to process
			texts | #state.hashCode() | hashCode() of a java.lang.Thread$State
			texts | #item.hashCode() % 16 | hashCode() of a
			texts | #items.![hashCode()] | hashCode() of a
			texts | #objectId.hashCode() | ObjectId: that has no text
			texts | #nameless.hashCode() | Nameless: that has no text
			texts | #list.hashCode() | several values
			# a parameter that SpEL cannot see
			rooted | #root.sku | Write #p0
			rooted | 'a-' + #root | Write #p0
			rooted | #root | Write #p0
			# as in the keys of a cache
			texts | #root.args[0] | #p0 is the first argument
			texts | #root.methodName + ':' + #item.sku | #root has no 'methodName'
			texts | #root.method.name + ':' + order | "#order" or "'order'"
			# methods that an expression may not call
			texts | #root.targetClass.getSimpleName() | no method 'getSimpleName'
			texts | #root.targetClass.toString() | no method 'toString'
			texts | #root.method.declaringClass.hashCode() | no method 'hashCode'
			texts | #item.getClass() | no method 'getClass'
			texts | #root?.targetClass?.getSimpleName() | no method 'getSimpleName'
			# the elements are known
			texts | #items.![skuu] | Item has no property 'skuu'
			texts | #items.![#root.targetClass.getSimpleName()] | no method 'getSimpleName'
			""")
	void c14ExpressionIsRefusedAtTheStart(String method, String expression, String message) {
		assertThatExceptionOfType(RefusedKeyException.class).isThrownBy(() -> key(method, expression))
			.withMessageContaining("'" + expression + "'")
			.withMessageContaining(message);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			#any.hashCode() % 16 | hashCode()
			'a-' + #any.toString() | toString()
			""")
	void methodWhoseResultDiffersFromProcessToProcessIsRefusedAtTheCall(String expression, String method) {
		LockKey key = key("numbers", expression);
		@Nullable Object[] arguments = ARGUMENTS.get("numbers").clone();
		arguments[7] = "a";
		assertThat(key.evaluate(arguments)).hasSize(1);
		for (Object value : List.of(new Item("shoe", "m", 2), Set.of("a"), new int[0])) {
			arguments[7] = value;
			assertThatIllegalArgumentException().isThrownBy(() -> key.evaluate(arguments))
				.withMessageContaining(method)
				.withMessageContaining(value.getClass().getTypeName());
		}
	}

	@Test
	void hashCodeOfAnEnumIsRefusedAtTheCall() {
		LockKey key = key("numbers", "#any.hashCode()");
		@Nullable Object[] arguments = ARGUMENTS.get("numbers").clone();
		arguments[7] = Thread.State.NEW;
		assertThatIllegalArgumentException().isThrownBy(() -> key.evaluate(arguments))
			.withMessageContaining("hashCode() of a java.lang.Thread");
	}

	@Test
	void c2NullInASumWithinAConcatenationIsNotTheTextNull() {
		LockKey key = key("sums", "'a' + (#x + #y)");
		@Nullable Object[] arguments = ARGUMENTS.get("sums").clone();
		arguments[1] = null;
		assertThatIllegalArgumentException().isThrownBy(() -> key.evaluate(arguments)).withMessageContaining("#y");
		arguments[1] = new Nameless();
		assertThatIllegalArgumentException().isThrownBy(() -> key.evaluate(arguments)).withMessageContaining("#y");
	}

	@Test
	void c2NullInAConcatenationOfEachElementIsNotTheTextNull() {
		LockKey key = key("texts", "#items.![sku + '-' + size]");
		@Nullable Object[] arguments = ARGUMENTS.get("texts").clone();
		arguments[4] = new Item[] { new Item("shoe", null, 2) };
		assertThatIllegalArgumentException().isThrownBy(() -> key.evaluate(arguments)).withMessageContaining("size");
	}

	@Test
	void c2FunctionIsRefused() {
		assertThatExceptionOfType(RefusedKeyException.class).isThrownBy(() -> key("numbers", "#hash(#a)"))
			.withMessageContaining("#hash(#a): a key sees the arguments and the method only");
	}

}
