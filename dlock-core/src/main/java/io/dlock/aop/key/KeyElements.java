package io.dlock.aop.key;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Optional;
import java.util.stream.BaseStream;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ObjectUtils;

/**
 * The keys in a value that may be several.
 */
final class KeyElements {

	private KeyElements() {
	}

	/**
	 * Refuse an argument of which the method would find nothing left.
	 * @param type the type of an argument
	 * @throws RefusedKeyException if it can be read once
	 */
	static void checkArgument(Class<?> type) {
		if (BaseStream.class.isAssignableFrom(type) || Iterator.class.isAssignableFrom(type)) {
			throw new RefusedKeyException(
					"is a %s, which the method could not read again".formatted(type.getTypeName()),
					"Pass a collection");
		}
	}

	/**
	 * Refuse a type that leaves open whether there is a key.
	 * @param type the type of a key
	 * @throws RefusedKeyException if it is {@link Optional}
	 */
	static void checkKey(@Nullable Class<?> type) {
		if (type == Optional.class) {
			throw new RefusedKeyException("is an Optional, which may have no value",
					"Use its value with get(), or its stream(), which has one key or none");
		}
	}

	/**
	 * Read the elements of a value that is several.
	 * @param value a collection, an array, a stream or an iterator
	 * @return the elements, which may be {@code null}
	 */
	static Iterator<? extends @Nullable Object> of(Object value) {
		if (value instanceof Iterable<?> iterable) {
			return iterable.iterator();
		}
		if (value instanceof BaseStream<?, ?> stream) {
			return stream.iterator();
		}
		return (value instanceof Iterator<?> iterator) ? iterator
				: Arrays.asList(ObjectUtils.toObjectArray(value)).iterator();
	}

}
