package io.dlock.aop.key;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.StringUtils;

/**
 * The key of a locked method: a fixed text, or a name and an expression over the
 * arguments. The expression is parsed once and sees only the arguments and the method: no
 * types, beans or constructors. (It may call methods of the arguments.)
 */
public final class LockKey {

	/** A compiled expression would bypass {@link KeyOperand}. */
	private static final SpelParserConfiguration INTERPRETED = new SpelParserConfiguration(SpelCompilerMode.OFF, null);

	private static final SpelExpressionParser PARSER = new SpelExpressionParser(INTERPRETED);

	private final KeyScope scope;

	private final String name;

	private final @Nullable SpelExpression expression;

	/** The position of the argument that the expression consists of, if it is no more. */
	private final @Nullable Integer argument;

	private final String fixedKey;

	private LockKey(KeyScope scope, String name, @Nullable SpelExpression expression, String fixedKey) {
		this.scope = scope;
		this.name = name;
		this.expression = expression;
		this.argument = (expression != null) ? argument(expression.getAST()) : null;
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
			return new LockKey(scope, name, null,
					name.isEmpty() ? targetClass.getName() + "#" + signature(method) : name);
		}
		SpelNodeImpl parsed = KeyOperand.within(parse(expression).getAST(), texts);
		new KeyExpressionCheck(expression, scope).check(parsed);
		return new LockKey(scope, name, new SpelExpression(expression, parsed, INTERPRETED), name);
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

	private static String signature(Method method) {
		StringBuilder signature = new StringBuilder(method.getName()).append('(');
		for (Class<?> type : method.getParameterTypes()) {
			signature.append((signature.charAt(signature.length() - 1) != '(') ? "," : "").append(type.getTypeName());
		}
		return signature.append(')').toString();
	}

	/**
	 * Whether it differs from call to call and stands without a name.
	 * @return whether it may exclude calls that have nothing to do with the method
	 */
	public boolean isBare() {
		return this.name.isEmpty() && this.expression != null && seesArgument(this.expression.getAST());
	}

	private boolean seesArgument(SpelNode node) {
		if (argument(node) != null) {
			return true;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			if (seesArgument(node.getChild(i))) {
				return true;
			}
		}
		return false;
	}

	private @Nullable Integer argument(SpelNode node) {
		return (node instanceof VariableReference variable) ? this.scope.position(variable.toStringAST().substring(1))
				: null;
	}

	/**
	 * The key of a call. Evaluated once, before the method can change its arguments.
	 * @param arguments the arguments
	 * @return the key, with its name
	 * @throws IllegalArgumentException if the expression yields nothing that could be a
	 * key
	 */
	public String evaluate(@Nullable Object[] arguments) {
		if (this.expression == null) {
			return this.fixedKey;
		}
		String key = text(this.expression, arguments);
		if (!StringUtils.hasText(key)) {
			throw new IllegalArgumentException(
					"The key " + this + " is blank for this call, which would be one lock for all calls");
		}
		return this.name.isEmpty() ? key : this.name + ":" + key;
	}

	private String text(SpelExpression evaluated, @Nullable Object[] arguments) {
		try {
			return this.scope.texts().of(value(evaluated, arguments));
		}
		catch (RefusedKeyException ex) {
			throw new IllegalArgumentException("The key %s %s. %s%s".formatted(this, ex.problem(), ex.action(),
					this.scope.isNamed() ? "" : "; if a parameter seems to be missing: " + KeyScope.PARAMETERS_HINT),
					ex);
		}
		catch (EvaluationException ex) {
			throw new IllegalArgumentException(
					"The key " + this + " could not be evaluated for this call: " + ex.getMessage(), ex);
		}
	}

	/**
	 * SpEL would describe the type of an argument at each call.
	 */
	private @Nullable Object value(SpelExpression evaluated, @Nullable Object[] arguments) {
		return (this.argument != null && this.argument < arguments.length) ? arguments[this.argument]
				: evaluated.getValue(new KeyEvaluationContext(this.scope, arguments));
	}

	@Override
	public String toString() {
		return (this.expression != null) ? "'%s' of %s".formatted(this.expression.getExpressionString(), this.scope)
				: this.fixedKey;
	}

}
