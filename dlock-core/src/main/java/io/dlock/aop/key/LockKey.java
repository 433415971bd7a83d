package io.dlock.aop.key;

import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The key of a locked method, or its keys: a fixed text, or a name and expressions over
 * the arguments.
 */
public final class LockKey {

	private final KeyScope scope;

	private final String name;

	private final List<KeyExpression> expressions;

	private final boolean several;

	private final String fixedKey;

	private LockKey(KeyScope scope, String name, List<KeyExpression> expressions, boolean several, String fixedKey) {
		this.scope = scope;
		this.name = name;
		this.expressions = expressions;
		this.several = several;
		this.fixedKey = fixedKey;
	}

	/**
	 * Create the key of a method.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @param name the name, may be empty
	 * @param expression the expression, may be empty
	 * @param texts makes text of values
	 * @return the key
	 * @throws RefusedKeyException if the expression cannot be a key
	 */
	public static LockKey of(Method method, Class<?> targetClass, String name, String expression,
			KeyValueFormatter texts) {
		KeyScope scope = new KeyScope(method, targetClass, texts);
		if (expression.isEmpty()) {
			return new LockKey(scope, name, List.of(), false,
					name.isEmpty() ? targetClass.getName() + "#" + signature(method) : name);
		}
		return new LockKey(scope, name, List.of(KeyExpression.of(expression, scope, false)), false, name);
	}

	/**
	 * Create the keys of a method that locks several at once.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @param name the name, may be empty
	 * @param expressions the expressions, each for one key or several
	 * @param texts makes text of values
	 * @return the keys
	 * @throws RefusedKeyException if an expression cannot be a key or several
	 */
	public static LockKey several(Method method, Class<?> targetClass, String name, List<String> expressions,
			KeyValueFormatter texts) {
		KeyScope scope = new KeyScope(method, targetClass, texts);
		return new LockKey(scope, name,
				expressions.stream().map((expression) -> KeyExpression.of(expression, scope, true)).toList(), true,
				name);
	}

	private static String signature(Method method) {
		StringBuilder signature = new StringBuilder(method.getName()).append('(');
		for (Class<?> type : method.getParameterTypes()) {
			signature.append((signature.charAt(signature.length() - 1) != '(') ? "," : "").append(type.getTypeName());
		}
		return signature.append(')').toString();
	}

	/**
	 * Whether it is a set of keys, all of which are locked together.
	 * @return whether there may be more than one
	 */
	public boolean isSeveral() {
		return this.several;
	}

	/**
	 * Whether it differs from call to call and stands without a name.
	 * @return whether it may exclude calls that have nothing to do with the method
	 */
	public boolean isBare() {
		return this.name.isEmpty() && this.expressions.stream().anyMatch(KeyExpression::seesArgument);
	}

	/**
	 * The keys of a call. Evaluated once, before the method can change its arguments.
	 * @param arguments the arguments
	 * @return the keys with their name, without duplicates; one unless
	 * {@linkplain #isSeveral() there may be several}
	 * @throws IllegalArgumentException if an expression yields nothing that could be a
	 * key
	 */
	public List<String> evaluate(@Nullable Object[] arguments) {
		if (this.expressions.isEmpty()) {
			return List.of(this.fixedKey);
		}
		if (!this.several) {
			return List.of(named(this.expressions.get(0).key(arguments)));
		}
		Set<String> keys = new LinkedHashSet<>();
		this.expressions.forEach((expression) -> expression.addKeys(arguments, keys));
		if (keys.isEmpty()) {
			throw new IllegalArgumentException(
					("The keys %s are empty for this call, which would run without a lock. Do not call the method then, "
							+ "or add a key that is always there: keys = { \"#order.id\", … }")
						.formatted(this));
		}
		return keys.stream().map(this::named).toList();
	}

	private String named(String key) {
		return this.name.isEmpty() ? key : this.name + ":" + key;
	}

	@Override
	public String toString() {
		return this.expressions.isEmpty() ? this.fixedKey
				: this.expressions.stream()
					.map((expression) -> "'" + expression.text() + "'")
					.collect(Collectors.joining(", ", "", " of " + this.scope));
	}

}
