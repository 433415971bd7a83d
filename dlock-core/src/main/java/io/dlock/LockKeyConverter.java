package io.dlock;

import java.util.function.Function;

/**
 * Converts the values of a type to text for the keys of {@link DistributedLocked}. Each
 * bean of this class adds a type of which keys can be made:
 *
 * <pre class="code">
 * &#64;Bean
 * static LockKeyConverter&lt;Money&gt; moneyInKeys() {
 *     return new LockKeyConverter&lt;&gt;(Money.class, (money) -&gt; money.amount() + " " + money.currency());
 * }
 * </pre>
 *
 * Make the method {@code static}, or put it in a class other than that of the locked
 * methods that need it: a bean whose locked methods are checked cannot create the
 * converter that they need.
 * <p>
 * Equal values need the same text in every instance of the application, and different
 * values need different texts. The text must not be {@code null}; a key with a blank text
 * is refused.
 * <p>
 * The converter also applies to the subtypes of its type. If several converters fit, the
 * first in the order of the beans is used. A record or an array may have a converter.
 * Text, numbers and the other types with a defined text keep that text.
 *
 * @param <T> the type of the values
 * @param type the type of the values
 * @param text the text of a value
 * @since 0.1
 * @see DistributedLocked#key()
 */
public record LockKeyConverter<T>(Class<T> type, Function<? super T, String> text) {

	/**
	 * Whether values of a type get their text from this converter.
	 * @param candidate the type of a value
	 * @return whether it is the type of this converter or a subtype of it
	 */
	public boolean accepts(Class<?> candidate) {
		return this.type.isAssignableFrom(candidate);
	}

	/**
	 * The text of a value.
	 * @param value a value of the type
	 * @return the text
	 * @throws ClassCastException if the value is of another type
	 */
	public String convert(Object value) {
		return this.text.apply(this.type.cast(value));
	}

}
