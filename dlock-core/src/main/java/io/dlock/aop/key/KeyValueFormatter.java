package io.dlock.aop.key;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

import io.dlock.LockKeyConverter;

/**
 * The text of the values that a key is made of: equal values have the same text, and
 * different values of a type have different texts. All other values are refused. It is
 * also how an expression converts values to text.
 */
public final class KeyValueFormatter extends StandardTypeConverter {

	private static final Set<Class<?>> UNDECIDED = Set.of(Object.class, Number.class, Record.class);

	private final Supplier<List<LockKeyConverter<?>>> converters;

	/** It keeps the classes that it has seen: a static one would keep their loaders. */
	private final EvaluationContext restricted = SimpleEvaluationContext
		.forPropertyAccessors(DataBindingPropertyAccessor.forReadOnlyAccess())
		.withMethodResolvers(new KeyMethodResolver())
		.build();

	private final Map<Class<?>, Form> forms = new ConcurrentHashMap<>();

	/**
	 * Create the texts.
	 * @param converters asked for when a type has no text of its own
	 */
	public KeyValueFormatter(Supplier<List<LockKeyConverter<?>>> converters) {
		this.converters = SingletonSupplier.of(converters);
	}

	/**
	 * The members that the expressions of all keys may read.
	 * @return properties and methods of instances
	 */
	EvaluationContext restricted() {
		return this.restricted;
	}

	/**
	 * The text of a value.
	 * @param value the value
	 * @return the text, which may be blank
	 * @throws RefusedKeyException if it has none
	 */
	String of(@Nullable Object value) {
		if (value instanceof String || value instanceof Long || value instanceof Integer) {
			return value.toString();
		}
		Object content = content(value);
		if (content.getClass().isArray() && Array.getLength(content) == 0) {
			throw new RefusedKeyException("is an empty array, which would be one lock for all calls",
					"Pass an argument that has a value");
		}
		return form(content.getClass()).text().apply(content);
	}

	/**
	 * Whether a value that may be several keys is.
	 * @param type its class
	 * @return whether its elements are keys, and not the whole
	 */
	boolean isSeveral(Class<?> type) {
		return (type.isArray() || KeyValueTypes.isSeveral(type)) && !Map.class.isAssignableFrom(type)
				&& converter(type) == null;
	}

	private static Object content(@Nullable Object value) {
		Object content = (value instanceof Optional<?> optional) ? optional.orElse(null) : value;
		if (content == null) {
			throw new RefusedKeyException(
					"is " + ((value != null) ? "empty" : "null")
							+ " for this call, which would be one lock for all calls",
					"Pass an argument that has a value");
		}
		return content;
	}

	private Form form(Class<?> type) {
		Form form = this.forms.get(type);
		if (form == null) {
			form = find(type);
			this.forms.put(type, form);
		}
		return form;
	}

	private Form find(Class<?> type) {
		Function<Object, String> own = KeyValueTypes.text(type);
		if (own != null) {
			return new Form(own, !Number.class.isAssignableFrom(type) && type != Boolean.class);
		}
		LockKeyConverter<?> converter = converter(type);
		if (converter != null) {
			return new Form(converter::convert, true);
		}
		if (type.isArray()) {
			return new Form(this::elements, false);
		}
		if (type.isRecord()) {
			return new Form(components(type), false);
		}
		throw KeyValueTypes.refusal(type);
	}

	private @Nullable LockKeyConverter<?> converter(Class<?> type) {
		for (LockKeyConverter<?> converter : this.converters.get()) {
			if (converter.accepts(type)) {
				return converter;
			}
		}
		return null;
	}

	private String elements(Object array) {
		StringJoiner text = new StringJoiner(",", "[", "]");
		for (int i = 0; i < Array.getLength(array); i++) {
			text.add(part(Array.get(array, i), "[" + i + "]"));
		}
		return text.toString();
	}

	private Function<Object, String> components(Class<?> type) {
		List<Method> accessors = Arrays.stream(type.getRecordComponents()).map(RecordComponent::getAccessor).toList();
		accessors.forEach(ReflectionUtils::makeAccessible);
		return (value) -> {
			StringJoiner text = new StringJoiner(",", "[", "]");
			for (Method accessor : accessors) {
				text.add(part(ReflectionUtils.invokeMethod(accessor, value), "'" + accessor.getName() + "'"));
			}
			return text.toString();
		};
	}

	/**
	 * As in JSON, so that parts cannot run into each other.
	 */
	private String part(@Nullable Object value, String name) {
		try {
			Object content = content(value);
			Form form = form(content.getClass());
			String text = form.text().apply(content);
			return form.quoted() ? '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"' : text;
		}
		catch (RefusedKeyException ex) {
			throw ex.asPart(name);
		}
	}

	/**
	 * Check a declared type.
	 * @param type the type
	 * @throws RefusedKeyException if no value of it can have a text
	 */
	void check(ResolvableType type) {
		check(type, new HashSet<>());
	}

	private void check(ResolvableType type, Set<Class<?>> seen) {
		List<ResolvableType> bounds = DeclaredTypes.bounds(type);
		if (bounds.size() > 1) {
			if (bounds.stream().map(DeclaredTypes::known).noneMatch(this::hasText)) {
				bounds.forEach((bound) -> check(bound, seen));
			}
			return;
		}
		Class<?> checked = DeclaredTypes.known(type);
		if (checked == null || KeyValueTypes.text(checked) != null || isUndecided(checked)) {
			return;
		}
		if (checked == Optional.class) {
			check(type.getGeneric(0), seen);
		}
		else if (checked.isArray() && converter(checked) == null) {
			check(type.getComponentType(), seen);
		}
		else if (checked.isRecord() && converter(checked) == null) {
			if (seen.add(checked)) {
				checkComponents(type, checked, seen);
			}
		}
		else {
			form(checked);
		}
	}

	private void checkComponents(ResolvableType type, Class<?> checked, Set<Class<?>> seen) {
		for (RecordComponent component : checked.getRecordComponents()) {
			try {
				check(DeclaredTypes.ofMember(component.getAccessor(), component.getGenericType(), type), seen);
			}
			catch (RefusedKeyException ex) {
				throw ex.asPart("'%s' of %s".formatted(component.getName(), checked.getTypeName()));
			}
		}
	}

	private boolean hasText(@Nullable Class<?> type) {
		return type != null && (KeyValueTypes.text(type) != null || converter(type) != null);
	}

	/**
	 * Whether a value of the type may be of another type, which has a text.
	 */
	private boolean isUndecided(Class<?> type) {
		return UNDECIDED.contains(type) || (type.isInterface() && !KeyValueTypes.isRefused(type))
				|| this.converters.get().stream().anyMatch((converter) -> type.isAssignableFrom(converter.type()));
	}

	@Override
	public @Nullable Object convertValue(@Nullable Object value, @Nullable TypeDescriptor sourceType,
			TypeDescriptor targetType) {
		return (value != null && targetType.getType() == String.class) ? of(value)
				: super.convertValue(value, sourceType, targetType);
	}

	/**
	 * The form of the values of a class.
	 *
	 * @param text their text
	 * @param quoted whether it needs quotes among others
	 */
	private record Form(Function<Object, String> text, boolean quoted) {

	}

}
