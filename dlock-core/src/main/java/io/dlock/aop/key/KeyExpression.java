package io.dlock.aop.key;

import java.util.Iterator;
import java.util.Set;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.StringUtils;

import io.dlock.LockSet;

/**
 * An expression over the arguments of a method. It is parsed once and sees only the
 * arguments and the method: no types, beans or constructors. (It may call methods of the
 * arguments.)
 */
final class KeyExpression {

	/** A compiled expression would bypass {@link KeyOperand}. */
	private static final SpelParserConfiguration INTERPRETED = new SpelParserConfiguration(SpelCompilerMode.OFF, null);

	private static final SpelExpressionParser PARSER = new SpelExpressionParser(INTERPRETED);

	private final KeyScope scope;

	private final SpelExpression expression;

	/** The position of the argument that the expression consists of, if it is no more. */
	private final @Nullable Integer argument;

	private KeyExpression(KeyScope scope, SpelExpression expression) {
		this.scope = scope;
		this.expression = expression;
		this.argument = argument(expression.getAST());
	}

	/**
	 * Parse and check an expression.
	 * @param scope the method
	 * @param several whether its value may be several keys
	 * @throws RefusedKeyException if its value cannot be a key
	 */
	static KeyExpression of(String expression, KeyScope scope, boolean several) {
		SpelNodeImpl parsed = KeyOperand.within(parse(expression).getAST(), scope.texts());
		new KeyExpressionCheck(expression, scope, several).check(parsed);
		return new KeyExpression(scope, new SpelExpression(expression, parsed, INTERPRETED));
	}

	private static SpelExpression parse(String expression) {
		try {
			return (SpelExpression) PARSER.parseExpression(expression);
		}
		catch (ParseException | IllegalStateException ex) {
			throw new RefusedKeyException(
					"has the key '" + expression + "', which is no SpEL expression: " + ex.getMessage(),
					"A constant key needs quotes: \"'nightly'\"", ex);
		}
	}

	boolean seesArgument() {
		return arguments(this.expression.getAST()).findAny().isPresent();
	}

	private Stream<SpelNode> arguments(SpelNode node) {
		return Stream.concat(Stream.of(node).filter((self) -> argument(self) != null),
				IntStream.range(0, node.getChildCount()).mapToObj(node::getChild).flatMap(this::arguments));
	}

	private @Nullable Integer argument(SpelNode node) {
		return (node instanceof VariableReference variable) ? this.scope.position(variable.toStringAST().substring(1))
				: null;
	}

	/**
	 * The key of a call.
	 * @return the text, which is not blank
	 * @throws IllegalArgumentException if the value has no text
	 */
	String key(@Nullable Object[] arguments) {
		try {
			return keyOf(value(arguments));
		}
		catch (RefusedKeyException ex) {
			throw refusal(ex);
		}
	}

	/**
	 * Add the keys of a call, of which there may be several.
	 * @param keys the keys so far
	 * @throws IllegalArgumentException if the value or an element of it has no text, or
	 * there are too many keys
	 */
	void addKeys(@Nullable Object[] arguments, Set<String> keys) {
		try {
			Object value = value(arguments);
			if (value == null || !this.scope.texts().isSeveral(value.getClass())) {
				add(keyOfOne(value), keys);
				return;
			}
			if (this.argument != null) {
				KeyElements.checkArgument(value.getClass());
			}
			addElements(value, keys);
		}
		catch (RefusedKeyException ex) {
			throw refusal(ex);
		}
	}

	private void addElements(Object value, Set<String> keys) {
		try {
			Iterator<? extends @Nullable Object> elements = KeyElements.of(value);
			for (int i = 0; elements.hasNext(); i++) {
				add(keyOfElement(elements.next(), i), keys);
			}
		}
		finally {
			if (value instanceof BaseStream<?, ?> stream) {
				stream.close();
			}
		}
	}

	private String keyOfElement(@Nullable Object element, int index) {
		try {
			return keyOfOne(element);
		}
		catch (RefusedKeyException ex) {
			throw ex.asPart("[" + index + "]");
		}
	}

	private String keyOfOne(@Nullable Object value) {
		KeyElements.checkKey((value != null) ? value.getClass() : null);
		return keyOf(value);
	}

	/**
	 * A stream may have no end.
	 */
	private static void add(String key, Set<String> keys) {
		if (keys.add(key) && keys.size() > LockSet.MAX_KEYS) {
			throw new RefusedKeyException("exceeds the limit of %d keys for one call".formatted(LockSet.MAX_KEYS),
					"Lock a common parent key instead");
		}
	}

	private String keyOf(@Nullable Object value) {
		String key = this.scope.texts().of(value);
		if (!StringUtils.hasText(key)) {
			throw new RefusedKeyException("is blank for this call: all calls with a blank key would share one lock",
					"Pass an argument that has a value");
		}
		return key;
	}

	/**
	 * SpEL would describe the type of an argument at each call.
	 */
	private @Nullable Object value(@Nullable Object[] arguments) {
		if (this.argument != null && this.argument < arguments.length) {
			return arguments[this.argument];
		}
		try {
			return this.expression.getValue(new KeyEvaluationContext(this.scope, arguments));
		}
		catch (RefusedKeyException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			// SpEL passes on what a method throws as it is
			throw new IllegalArgumentException("The key " + this + " could not be evaluated for this call"
					+ nulls(arguments) + ": " + ex.getMessage(), ex);
		}
	}

	private String nulls(@Nullable Object[] arguments) {
		return arguments(this.expression.getAST()).filter((node) -> {
			Integer position = argument(node);
			return position != null && position < arguments.length && arguments[position] == null;
		})
			.map(SpelNode::toStringAST)
			.distinct()
			.map((name) -> ", in which " + name + " is null")
			.collect(Collectors.joining());
	}

	private IllegalArgumentException refusal(RefusedKeyException ex) {
		return new IllegalArgumentException("The key %s %s. %s%s".formatted(this, ex.problem(), ex.action(),
				this.scope.isNamed() ? "" : "; if a parameter seems to be missing: " + KeyScope.PARAMETERS_HINT), ex);
	}

	String text() {
		return this.expression.getExpressionString();
	}

	@Override
	public String toString() {
		return "'%s' of %s".formatted(text(), this.scope);
	}

}
