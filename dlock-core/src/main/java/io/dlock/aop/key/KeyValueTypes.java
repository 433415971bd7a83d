package io.dlock.aop.key;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Currency;
import java.util.Date;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.BaseStream;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * The types of Java that have a text of their own in a key, and the replacements of types
 * that have none.
 */
final class KeyValueTypes {

	/** Beyond this scale a number is written with an exponent: 1E+1000000000 is short. */
	private static final int MAX_PLAIN_SCALE = 100;

	private static final Map<Class<?>, Function<Object, String>> TEXTS = texts();

	private static final Predicate<Class<?>> SEVERAL = isA(Iterable.class, Map.class, Iterator.class, BaseStream.class);

	private static final List<Refused> REFUSED = List.of(new Refused("that is several values and not one",
			"Lock one value, such as an id, or all keys or all values of the map, as in keys = \"#map.keySet()\"",
			isA(Map.class)),
			new Refused("that is several values and not one",
					"Lock one value, such as an id, or lock all of them: write keys instead of key",
					KeyValueTypes::isSeveral),
			new Refused("its text depends on the time zone of the process",
					"Use a type of java.time, for instance with toInstant()", isA(Date.class, Calendar.class)),
			new Refused("that holds or supplies a value and is not one", "Use the value that it has, with get()",
					isA(AtomicReference.class, AtomicLong.class, AtomicInteger.class, AtomicBoolean.class,
							Supplier.class)));

	private KeyValueTypes() {
	}

	private static Map<Class<?>, Function<Object, String>> texts() {
		Map<Class<?>, Function<Object, String>> texts = new LinkedHashMap<>();
		for (Class<?> type : List.of(CharSequence.class, Character.class, Boolean.class, Byte.class, Short.class,
				Integer.class, Long.class, BigInteger.class, UUID.class, URI.class, Instant.class, LocalDate.class,
				LocalTime.class, LocalDateTime.class, OffsetDateTime.class, OffsetTime.class, ZonedDateTime.class,
				Year.class, YearMonth.class, MonthDay.class, Duration.class, Period.class, ZoneId.class)) {
			texts.put(type, Object::toString);
		}
		texts.put(BigDecimal.class, (value) -> decimal((BigDecimal) value));
		texts.put(Double.class, (value) -> binary((Double) value));
		texts.put(Float.class, (value) -> binary((Float) value));
		texts.put(Enum.class, (value) -> ((Enum<?>) value).name());
		texts.put(Class.class, (value) -> ((Class<?>) value).getName());
		texts.put(Locale.class, (value) -> ((Locale) value).toLanguageTag());
		texts.put(Currency.class, (value) -> ((Currency) value).getCurrencyCode());
		return texts;
	}

	/**
	 * The text of the values of a type.
	 * @return the text, or {@code null} if the type has none
	 */
	static @Nullable Function<Object, String> text(Class<?> type) {
		for (Map.Entry<Class<?>, Function<Object, String>> text : TEXTS.entrySet()) {
			if (text.getKey().isAssignableFrom(type)) {
				return text.getValue();
			}
		}
		return null;
	}

	private static String decimal(BigDecimal value) {
		BigDecimal stripped = value.stripTrailingZeros();
		return (Math.abs((long) stripped.scale()) <= MAX_PLAIN_SCALE) ? stripped.toPlainString() : stripped.toString();
	}

	/**
	 * The exact value. The shortest decimal that stands for it is not the same before and
	 * after Java 19.
	 */
	private static String binary(double value) {
		if (!Double.isFinite(value)) {
			throw new RefusedKeyException("is " + value, "Use a finite number");
		}
		return decimal(new BigDecimal(value));
	}

	private static Predicate<Class<?>> isA(Class<?>... types) {
		return (candidate) -> Arrays.stream(types).anyMatch((type) -> type.isAssignableFrom(candidate));
	}

	/**
	 * Whether a value of a type consists of several.
	 * @return whether it is a collection, a map or a stream; not an array
	 */
	static boolean isSeveral(Class<?> type) {
		return SEVERAL.test(type) && !Path.class.isAssignableFrom(type);
	}

	/**
	 * Refuse a method without arguments whose result does not stand for the value.
	 * @param type the type of the value, known or declared
	 * @param method the name of the method
	 * @throws RefusedKeyException if no value of the type may be asked
	 */
	static void checkMethod(Class<?> type, String method) {
		if (method.equals("toString") && !hasToString(type)) {
			throw new RefusedKeyException("calls the toString() of a %s, which may leave out a part of its value"
				.formatted(type.getTypeName()), "Leave out toString(): the key has a text of its own for that type");
		}
		if (method.equals("hashCode") && !hasHashCode(type)) {
			throw new RefusedKeyException("calls the hashCode() of a %s, which may differ from process to process"
				.formatted(type.getTypeName()), "Use that of a text or a number in it, such as an id");
		}
	}

	/**
	 * Whether {@code hashCode()} is the same in each process. That of an enum is not, nor
	 * that of a value that contains one.
	 */
	private static boolean hasHashCode(Class<?> type) {
		return (type.isInterface() && !isRefused(type)) || type == Number.class || type == String.class
				|| (text(type) != null && !Enum.class.isAssignableFrom(type)
						&& !CharSequence.class.isAssignableFrom(type));
	}

	/**
	 * Whether {@code toString()} may say what a value of the type is.
	 * @return whether it is a class with one of its own, or not known
	 */
	private static boolean hasToString(Class<?> type) {
		if (type.isArray() || type.isRecord() || type == Optional.class || isRefused(type)) {
			return false;
		}
		return type.isInterface() || Number.class.isAssignableFrom(type)
				|| ClassUtils.getMethod(type, "toString").getDeclaringClass() != Object.class;
	}

	/**
	 * Whether no value of a type can be in a key, its subtypes included.
	 * @return whether it is a type of Java for which there is something else to write
	 */
	static boolean isRefused(Class<?> type) {
		return REFUSED.stream().anyMatch((refused) -> refused.accepts(type));
	}

	/**
	 * Create the refusal of the values of a type, with its reason.
	 * @param type a type without a text
	 */
	static RefusedKeyException refusal(Class<?> type) {
		for (Refused refused : REFUSED) {
			if (refused.accepts(type)) {
				return new RefusedKeyException("is a %s: %s".formatted(type.getTypeName(), refused.problem()),
						refused.action());
			}
		}
		return new RefusedKeyException(
				"is a %s: that has no text that stands for its value".formatted(type.getTypeName()),
				"Use a property that identifies it, or register a LockKeyConverter for the type");
	}

	/**
	 * Types without a text.
	 *
	 * @param problem why
	 * @param action the replacement
	 * @param types the types
	 */
	private record Refused(String problem, String action, Predicate<Class<?>> types) {

		boolean accepts(Class<?> candidate) {
			return this.types.test(candidate);
		}

	}

}
