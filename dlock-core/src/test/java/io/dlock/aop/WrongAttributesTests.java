package io.dlock.aop;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

import io.dlock.DistributedLocked;
import io.dlock.LockRegistry;
import io.dlock.OnBusy;
import io.dlock.OnStoreFailure;
import io.dlock.aop.key.KeyValueFormatter;
import io.dlock.observation.CallObservationFactory;
import io.dlock.observation.LockObservationSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.mockito.Mockito.mock;

/**
 * Attributes that cannot be honoured: each is refused when its bean is created.
 */
class WrongAttributesTests {

	record Item(String sku) {

	}

	record Order(long id, String tenant, Optional<String> note, String[] tags) {

		@SuppressWarnings("unused")
		public List<Item> items() {
			return List.of();
		}

		@SuppressWarnings("unused")
		public Item item(int position) {
			return new Item("sku");
		}

	}

	record Batch(long id, List<Item> items) {

	}

	record Tree(long id, @Nullable Tree left) {

	}

	record Named<T>(T value) {

	}

	interface Event {

		Object source();

	}

	@SuppressWarnings("unused")
	static class Orders<T> {

		void pay(Order order, String name) {
		}

		void types(List<Item> items, Map<String, Item> byName, Item[] array, Batch batch, Date day,
				AtomicReference<String> place, Object object, Event event, Tree tree, Named<List<String>> named,
				Named<String> text, T any, Comparable<String> comparable, Number number, Optional<Batch> optional,
				StringBuilder builder, Collection<? extends Order> orders, Exception failure, int[] numbers) {
		}

		void several(Stream<String> skus, List<Date> dates, List<List<String>> nested, List<Optional<String>> optionals,
				Date[] dated, Iterable<String> iterable, List<? super String> open) {
		}

		List<String> list(String name) {
			return List.of();
		}

		String[] array(String name) {
			return new String[0];
		}

		Stream<String> stream(String name) {
			return Stream.of();
		}

		Map<String, String> map(String name) {
			return Map.of();
		}

		int number(String name) {
			return 0;
		}

		String text(String name) {
			return "";
		}

		@Nullable String nullable(String name) {
			return "";
		}

		OptionalInt optional(String name) {
			return OptionalInt.empty();
		}

		CompletableFuture<List<String>> stage(String name) {
			return CompletableFuture.completedFuture(List.of());
		}

		CompletableFuture<String> failing(String name) {
			throw new IllegalStateException();
		}

		void stored(String name) throws IOException {
		}

		void throwing(String name) throws IOException {
			throw new IOException();
		}

		void throwingRuntime(String name) throws IllegalStateException {
			throw new IllegalStateException();
		}

		CompletableFuture<String> throwingStage(String name) throws IOException {
			throw new IOException();
		}

		void silent(String name) {
		}

	}

	private static void parse(String method, String attributes) {
		Map<String, Object> values = new HashMap<>();
		for (String attribute : attributes.split(";")) {
			String[] pair = attribute.split("=", 2);
			values.put(pair[0], pair[0].equals("onBusy") ? OnBusy.valueOf(pair[1]) : pair[0].equals("onStoreFailure")
					? OnStoreFailure.valueOf(pair[1]) : pair[0].equals("keys") ? pair[1].split("&", -1) : pair[1]);
		}
		Method annotated = Arrays.stream(Orders.class.getDeclaredMethods())
			.filter((candidate) -> candidate.getName().equals(method))
			.findFirst()
			.orElseThrow();
		parser().parse(AnnotationUtils.synthesizeAnnotation(values, DistributedLocked.class, null), annotated,
				Orders.class);
	}

	private static LockedOperationParser parser() {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources().addFirst(new MapPropertySource("test", Map.of("empty", "")));
		return new LockedOperationParser(environment::resolveRequiredPlaceholders, () -> OnStoreFailure.THROW,
				(method, type) -> {
				}, new NamedRegistries(() -> mock(LockRegistry.class), () -> null),
				new CallObservationFactory(() -> LockObservationSettings.NONE), new KeyValueFormatter(ArrayList::new));
	}

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			# the key is no expression that can be evaluated
			pay | key=#order..id | no SpEL expression
			pay | key=nightly-report | constant needs quotes: "#nightly" or "'nightly-report'"
			pay | key=nightly | "'nightly'"
			pay | key=order.id | "#order"
			pay | key=#oder.id | no variable #oder
			pay | key='x' + (#order.id == 0 ? #nothing : #name) | no variable #nothing
			pay | key=#order.di | Order has no property 'di'
			pay | key=#order.item(0).name | Item has no property 'name'
			pay | key=#order.number() | Order has no method 'number'
			pay | key=#name.concat(#order.di) | Order has no property 'di'
			pay | key=#name ?: #order.di | Order has no property 'di'
			pay | key=#order.id == 0 ? 'none' : #order.di | Order has no property 'di'
			pay | key=#order.tags[#order.di] | Order has no property 'di'
			types | key=#array[0].name | Item has no property 'name'
			types | key=#items[0].name | Item has no property 'name'
			types | key=#byName['a'].name | Item has no property 'name'
			types | key=#byName[a].name | Item has no property 'name'
			types | key=#event.id | Event has no property 'id'
			pay | key=T(java.lang.System).exit(1) | the arguments and the method only
			pay | key=@bean.id | the arguments and the method only
			pay | key=#order.id++ | the arguments and the method only
			pay | key=#root.targetClass.classLoader | no property 'classLoader'
			# its type has no text
			pay | key=#order.items | #order.items is a java.util.List: that is several values
			pay | key=#order.items | write keys instead of key
			pay | key=#order.items() | java.util.List
			pay | key=#p0.items | java.util.List
			pay | key=#a0.items.toString() | java.util.List
			pay | key='order ' + #order.items | #order.items is a java.util.List
			pay | key=(#name + #order.items).trim() | java.util.List
			pay | key=#order.id == 0 ? #name : #order.items | java.util.List
			pay | key=#order.item(0) ?: #order.items | java.util.List
			pay | key=#order.items.![sku] | #order.items.![sku] is a java.util.List
			pay | key={#order.id, #name} | write keys instead of key
			pay | key={id: #order.id} | #map.keySet()
			pay | key=null | null has no text
			pay | key=#name == 'a' ? null : #name | null has no text
			pay | key=#root.method | java.lang.reflect.Method
			types | key=#items | #items is a java.util.List: that is several values
			types | key=#byName | java.util.Map
			types | key=#batch | the part 'items' of io.dlock.aop.WrongAttributesTests$Batch, which is a java.util.List
			types | key=#optional | the part 'items'
			types | key=#orders | java.util.Collection
			types | key=#orders[0].items | java.util.List
			types | key=#named | the part 'value'
			types | key=#named.value | java.util.List
			types | key=#day | java.time
			types | key=#place | get()
			types | key=#failure | LockKeyConverter
			# several keys
			pay | key=#name;keys=#order.id | has both the key '#name' and the keys [#order.id]
			pay | value=#name;keys=#order.id | has both the key '#name' and the keys [#order.id]
			pay | keys=#name& | has the keys [#name, ], of which one is empty
			pay | `keys=#name& ` | has the keys ' ', which is blank
			pay | keys=${empty} | has the keys '${empty}', which is blank
			pay | keys=#name&#oder.id | no variable #oder
			pay | keys=#order..id | no SpEL expression
			pay | keys=#order.items.![name] | Item has no property 'name'
			pay | keys=#order.items.?[name == 'a'] | Item has no property 'name'
			pay | keys=#order.items.?[sku == 'a'].![name] | Item has no property 'name'
			pay | keys=#name&#order.note | #order.note is an Optional
			pay | keys=#name == 'a' ? #name : #order.note | #order.note is an Optional
			pay | keys=#name ?: #order.note | #order.note is an Optional
			pay | keys=#order.id == 0 ? null : #name | null has no text
			pay | keys={#name, null} | null has no text
			pay | keys={#name, {#order.id}} | write keys instead of key
			pay | keys={#name, #order.note.get().length() + #object} | no variable #object
			pay | keys={id: #order.id} | #map.keySet()
			pay | keys=#root.method | java.lang.reflect.Method
			types | keys=#byName | #map.keySet()
			types | keys=#optional | is an Optional
			types | keys=#day | java.time
			types | keys=#named | the part 'value'
			types | keys=#failure | LockKeyConverter
			several | keys=#skus | #skus is a java.util.stream.Stream, which the method could not read again
			several | keys=#dates | an element of #dates is a java.util.Date
			several | keys=#nested | an element of #nested is a java.util.List
			several | keys=#optionals | an element of #optionals is an Optional
			several | keys=#dated | an element of #dated is a java.util.Date
			# null would become text
			types | key=#object.equals(#object + 'a') | null would become the text "null"
			pay | key=#name.substring((#order.tenant + #name).length()) | null would become the text "null"
			# as in a cache, or in ShedLock
			pay | key=#{#name} | A key is an expression itself: write "#id"
			pay | key='item-#{#name}' | has the key ''item-#{#name}'', in which only ${…} is replaced
			pay | keys=#{#name} | A key is an expression itself
			pay | name=job-#{#name} | has the name 'job-#{#name}', in which only ${…} is replaced
			pay | name=#name | Say in the key of a @DistributedLocked what depends on the arguments
			# text that is blank
			pay | `name= ` | has the name ' ', which is blank
			pay | name=${empty} | has the name '${empty}', which is blank when
			pay | `key= ` | has the key ' ', which is blank
			pay | key=${empty} | has the key '${empty}', which is blank
			pay | `fallback= ` | has the fallback ' ', which is blank
			pay | name=${missing} | ${missing}
			# the registry
			pay | registry=audit | names the registry 'audit', but not one LockRegistry bean has that name
			pay | registry=${empty} | has the registry '${empty}', which is blank
			# durations
			pay | lease=30 | has no unit
			pay | lease=0s | more than zero
			pay | lease=half an hour | no duration
			pay | waitTime=-1s | zero or more
			pay | waitTime=5 | has no unit
			pay | minHold=-1s | zero or more
			pay | maxHold=0s | more than zero
			pay | maxHold=1x | no duration
			# the result of a skipped call
			list | onBusy=SKIP | returns java.util.List, for which null is not an empty value
			array | onBusy=SKIP | java.lang.String[]
			stream | onBusy=SKIP | java.util.stream.Stream
			map | onBusy=SKIP | java.util.Map
			stage | onBusy=SKIP | java.util.List
			number | onBusy=SKIP | the primitive int
			text | onBusy=SKIP | declared not to be null
			pay | onBusy=SKIP;fallback=pay | both
			# the fallback
			silent | fallback=missing | 'missing'
			silent | fallback=number | returns int
			silent | fallback=throwing | throws java.io.IOException
			pay | onStoreFailure=FALLBACK | names no fallback
			""")
	void c14AttributeThatCannotBeHonouredIsRefused(String method, String attributes, String message) {
		assertThatExceptionOfType(InvalidLockedMethodException.class).isThrownBy(() -> parse(method, attributes))
			.withMessageContaining(message)
			.satisfies((ex) -> {
				assertThat(ex.description()).startsWith("@DistributedLocked on ").endsWith(".");
				assertThat(ex.action()).isNotBlank().endsWith(".");
			});
	}

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			pay | key=#order.id
			pay | key=#order
			pay | key=#order.note
			pay | key=#order?.note?.length()
			pay | key=#order.tags
			pay | key=#order.tags.length
			pay | key=#order.id % 16
			pay | key=(#order.id + 1) % 16
			pay | key=#order.tags[#order.tags.length - 1]
			pay | key=#name.toLowerCase().substring(1)
			pay | key=#name?.trim() ?: 'none'
			pay | key=#root.method.name
			pay | key=#root.targetClass
			pay | key='constant'
			pay | key=4711
			types | key=#items[0].sku
			types | key=#items.size()
			types | key=#items.![sku][0]
			types | key=#items.?[sku == #text.value][0].sku
			types | key=#array[0]
			types | key=#byName[a].sku
			types | key=#object
			types | key=#object.id
			types | key=#event
			types | key=#event.source
			types | key=#event.source.id
			types | key=#event.toString()
			types | key=#tree
			types | key=#text
			types | key=#any
			types | key=#any.id
			types | key=#comparable
			types | key=#number
			types | key=#builder
			types | key=#numbers
			types | key=#failure.message
			types | key=#orders.iterator().next().id
			pay | keys=#order
			pay | keys=#name&#order.id
			pay | keys=#order.tags
			pay | keys=#order.items
			pay | keys=#order.items.![sku]
			pay | keys=#order.items.?[sku == 'a'].![sku + '-' + #name]
			pay | keys={#name, 'a' + #order.id}
			pay | keys=#order.note.stream()
			pay | keys=#order.note.get()
			types | keys=#byName.keySet()
			types | keys=#byName.![key]
			types | keys=#byName.values().![sku]
			types | keys=#array.![sku]
			types | keys=#numbers
			types | keys=#object
			types | keys=#object.items.![sku]
			types | keys=#orders.![id]
			types | keys=#any
			several | keys=#iterable
			several | keys=#open
			nullable | onBusy=SKIP
			optional | onBusy=SKIP
			silent | onBusy=SKIP
			silent | fallback=throwingRuntime
			stored | fallback=throwing
			failing | fallback=throwingStage
			""")
	void c14AttributeThatMayBeHonouredIsNotRefused(String method, String attributes) {
		assertThatNoException().isThrownBy(() -> parse(method, attributes));
	}

}
