package io.dlock.aop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Currency;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.test.CapturedLog;
import io.dlock.test.DocsPage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * The text of a value in a key, and the values without one.
 */
class LockKeyTests extends AbstractDistributedLockedTests {

	enum Size {

		SMALL {

			@Override
			public String toString() {
				return "very small";
			}

		}

	}

	record Tagged(long id, @Nullable String... tags) {

	}

	record Pair(@Nullable Object first, @Nullable Object second) {

	}

	record Item(String sku) {

		@Override
		public String toString() {
			return "item";
		}

	}

	static class Keys {

		private static String key() {
			return LockHandle.current().orElseThrow().key();
		}

		@DistributedLocked("#value")
		public String of(@Nullable Object value) {
			return key();
		}

		@DistributedLocked("#a + '-' + #b")
		public String concatenated(@Nullable Object a, @Nullable Object b) {
			return key();
		}

		@DistributedLocked("(#a + '/').concat(#b)")
		public String called(@Nullable Object a, Object b) {
			return key();
		}

		@DistributedLocked("#a > 0 ? #b + '+' : 'none'")
		public String chosen(int a, @Nullable String b) {
			return key();
		}

		@DistributedLocked("#b ?: 'none'")
		public String orElse(@Nullable String b) {
			return key();
		}

		@DistributedLocked("#id + 1")
		public String sum(long id) {
			return key();
		}

	}

	static final List<Object> VALUES = List.of(arguments("4711", "4711"), arguments(new StringBuilder("text"), "text"),
			arguments('x', "x"), arguments((byte) 7, "7"), arguments(4711L, "4711"),
			arguments(BigInteger.TEN.pow(3), "1000"), arguments(new BigDecimal("1.00"), "1"),
			arguments(new BigDecimal("1.0"), "1"), arguments(new BigDecimal("1E+2"), "100"),
			arguments(new BigDecimal("0.00"), "0"), arguments(new BigDecimal("1E+999999999"), "1E+999999999"),
			arguments(1.0, "1"), arguments(-0.0, "0"), arguments(0.5f, "0.5"),
			arguments(0.1f, "0.100000001490116119384765625"), arguments(true, "true"),
			arguments(new UUID(0, 7), "00000000-0000-0000-0000-000000000007"), arguments(Size.SMALL, "SMALL"),
			arguments(DayOfWeek.MONDAY, "MONDAY"), arguments(Instant.EPOCH, "1970-01-01T00:00:00Z"),
			arguments(LocalDate.of(2026, 3, 1), "2026-03-01"),
			arguments(LocalDateTime.of(2026, 3, 1, 7, 0), "2026-03-01T07:00"),
			arguments(OffsetDateTime.of(2026, 3, 1, 7, 0, 0, 0, ZoneOffset.UTC), "2026-03-01T07:00Z"),
			arguments(YearMonth.of(2026, 3), "2026-03"), arguments(Duration.ofMinutes(90), "PT1H30M"),
			arguments(ZoneId.of("Europe/Berlin"), "Europe/Berlin"), arguments(URI.create("a:b"), "a:b"),
			arguments(Locale.GERMANY, "de-DE"), arguments(Currency.getInstance("EUR"), "EUR"),
			arguments(Size.class, Size.class.getName()), arguments(Optional.of(7), "7"),
			arguments(new Tagged(7, "a", "b"), "[7,[\"a\",\"b\"]]"), arguments(new Tagged(7), "[7,[]]"),
			arguments(new Pair(true, Size.SMALL), "[true,\"SMALL\"]"),
			arguments(new Pair(new Pair(1, "2"), Optional.of(3)), "[[1,\"2\"],3]"),
			arguments(new int[] { 1, 2 }, "[1,2]"), arguments(new Object[] { "\"", "\\" }, "[\"\\\"\",\"\\\\\"]"));

	@ParameterizedTest
	@FieldSource("VALUES")
	void c2ValueHasADefinedText(Object value, String text) {
		Keys keys = bean(Keys.class);
		assertThat(keys.of(value)).isEqualTo(text);
		assertThat(keys.concatenated(value, "b")).isEqualTo(text + "-b");
	}

	@Test
	void c2TableOfTheDocumentationHasTheseTexts() {
		List<Object> texts = VALUES.stream().map((value) -> ((Arguments) value).get()[1]).toList();
		List<String> documented = DocsPage.of("keys.md")
			.lines("| ")
			.stream()
			.map((row) -> row.split(" \\| "))
			.filter((row) -> row.length == 3 && row[2].matches("`[^#].*` \\|"))
			.map((row) -> row[2].substring(1, row[2].length() - 3))
			.toList();
		assertThat(documented).hasSizeGreaterThan(10).allSatisfy((text) -> assertThat(texts).contains(text));
	}

	@Test
	void c2PartsDoNotRunIntoEachOther() {
		Keys keys = bean(Keys.class);
		assertThat(keys.of(new String[] { "a", "b|c" })).isNotEqualTo(keys.of(new String[] { "a|b", "c" }));
		assertThat(keys.of(new String[] { "a", "b,c" })).isNotEqualTo(keys.of(new String[] { "a,b", "c" }));
		assertThat(keys.of(new String[] { "a\",\"b" })).isNotEqualTo(keys.of(new String[] { "a", "b" }));
		assertThat(keys.of(new String[] { "" })).isNotEqualTo(keys.of(new String[] { "", "" }));
		assertThat(keys.of(new Pair(new Object[0], "a"))).isNotEqualTo(keys.of(new Pair(new Object[] { "" }, "a")));
	}

	static Stream<Object> refused() {
		return Stream.of(arguments(null, "null"), arguments(Optional.empty(), "empty"),
				arguments(new String[0], "empty array"), arguments(List.of(), "write keys instead of key"),
				arguments(new ArrayList<>(List.of(new Item("a"))), "java.util.ArrayList"),
				arguments(new HashSet<>(List.of("a", "b")), "write keys instead of key"),
				arguments(Map.of("a", "b"), "#map.keySet()"), arguments(Stream.of("a"), "write keys instead of key"),
				arguments(new Date(), "java.time"), arguments(new AtomicReference<>("a"), "get()"),
				arguments(new AtomicLong(7), "get()"),
				arguments(Optional.of(List.of("a")), "write keys instead of key"), arguments(Double.NaN, "NaN"),
				arguments(new Object(), "LockKeyConverter"), arguments(new Tagged(7, "a", null), "'tags'"),
				arguments(new Pair("a", null), "'second'"),
				arguments(new Pair("a", new StringJoined()), "StringJoined"), arguments(new Object[1], "[0]"));
	}

	/**
	 * Has a {@code toString} that is like a value.
	 */
	static final class StringJoined {

		@Override
		public String toString() {
			return "a,b";
		}

	}

	@ParameterizedTest
	@MethodSource("refused")
	void c2ValueWithoutADefinedTextIsRefusedAtTheCall(@Nullable Object value, String message) {
		Keys keys = bean(Keys.class);
		assertThatIllegalArgumentException().isThrownBy(() -> keys.of(value))
			.withMessageContaining("'#value' of @DistributedLocked on " + Keys.class.getName() + ".of")
			.withMessageContaining(message);
		assertThatIllegalArgumentException().isThrownBy(() -> keys.concatenated("a", value))
			.withMessageContaining("#b")
			.withMessageContaining(message);
		assertThatIllegalArgumentException().isThrownBy(() -> keys.concatenated(value, "b"))
			.withMessageContaining("#a")
			.withMessageContaining(message);
	}

	@Test
	void c2NullInAConcatenationIsNotTheTextNull() {
		Keys keys = bean(Keys.class);
		assertThatIllegalArgumentException().isThrownBy(() -> keys.concatenated(null, null))
			.withMessageContaining("#a")
			.withMessageContaining("null");
		assertThatIllegalArgumentException().isThrownBy(() -> keys.called(null, "b")).withMessageContaining("#a");
		assertThatIllegalArgumentException().isThrownBy(() -> keys.chosen(1, null)).withMessageContaining("#b");
		assertThat(keys.chosen(0, null)).isEqualTo("none");
		assertThat(keys.orElse(null)).isEqualTo("none");
	}

	@Test
	void c2ConversionInsideAnExpressionHasTheSameTexts() {
		Keys keys = bean(Keys.class);
		assertThat(keys.called(Size.SMALL, new BigDecimal("1.50"))).isEqualTo("SMALL/1.5");
		assertThat(keys.concatenated(1, new UUID(0, 7))).isEqualTo("1-00000000-0000-0000-0000-000000000007");
		assertThat(keys.sum(41)).isEqualTo("42");
	}

	// whose names a key uses

	interface Transfers {

		@DistributedLocked("#from + '>' + #to")
		String transfer(String from, String to);

		@DistributedLocked(name = "received", key = "#to")
		String receive(String from, String to);

	}

	static class Swapped implements Transfers {

		@Override
		public String transfer(String to, String from) {
			return LockHandle.current().orElseThrow().key();
		}

		@Override
		public String receive(String to, String from) {
			return LockHandle.current().orElseThrow().key();
		}

	}

	static class Renamed implements Transfers {

		@Override
		public String transfer(String source, String target) {
			return LockHandle.current().orElseThrow().key();
		}

		@Override
		public String receive(String source, String target) {
			return LockHandle.current().orElseThrow().key();
		}

	}

	@Test
	void c14KeyIsReadInTheNamesOfTheMethodThatHasTheAnnotation() {
		Transfers transfers = bean(Renamed.class);
		assertThat(transfers.transfer("a", "b")).isEqualTo("a>b");
		assertThat(transfers.receive("a", "b")).isEqualTo("received:b");
	}

	@Test
	void c14SwappedNamesOfAnImplementationDoNotSwapTheKey() {
		Transfers transfers = bean(Swapped.class);
		assertThat(transfers.transfer("a", "b")).isEqualTo("a>b");
		assertThat(transfers.receive("a", "b")).isEqualTo("received:b");
	}

	// a key without a name

	static class Named {

		@DistributedLocked(name = "orders", key = "#id")
		public void named(String id) {
		}

		@DistributedLocked("'nightly'")
		public void constant() {
		}

		@DistributedLocked("#root.method.name")
		public void root() {
		}

		@DistributedLocked
		public void perMethod(String id) {
		}

	}

	@Test
	void c16WarnsOnceOfVariableKeyWithoutName() {
		try (CapturedLog log = CapturedLog.of(LockedOperationParser.class)) {
			Transfers transfers = bean(Renamed.class);
			transfers.transfer("a", "b");
			transfers.transfer("c", "d");
			this.context.registerBean(Named.class);
			this.context.getBean(Named.class).named("7");
			assertThat(log.events()).singleElement().satisfies((warning) -> {
				assertThat(warning.getLevel()).isEqualTo(Level.WARN);
				assertThat(warning.getFormattedMessage()).contains(Renamed.class.getName() + ".transfer",
						"'#from + '>' + #to'", "name = \"");
			});
		}
	}

}
