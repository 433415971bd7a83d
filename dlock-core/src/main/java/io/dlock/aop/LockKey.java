package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * The key of a locked method: a fixed text, or a name and an expression over the
 * arguments. The expression is parsed once and sees only the arguments and the method: no
 * types, beans or constructors. (It may call methods of the arguments.)
 */
final class LockKey {

	private static final SpelExpressionParser PARSER = new SpelExpressionParser();

	private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

	private static final Set<String> ROOT_PROPERTIES = Set.of("method", "targetClass");

	private static final String PARAMETERS_HINT = "Compile with -parameters, or use #p0, #p1, … for the arguments";

	private final Method method;

	private final Class<?> targetClass;

	private final String name;

	private final @Nullable SpelExpression expression;

	private final String @Nullable [] parameterNames;

	private final TypedValue root;

	/** Which argument a variable stands for. */
	private final Map<String, Integer> positions;

	private final String fixedKey;

	private LockKey(Method method, Class<?> targetClass, String name, @Nullable SpelExpression expression) {
		this.method = method;
		this.targetClass = targetClass;
		this.name = name;
		this.expression = expression;
		this.parameterNames = PARAMETER_NAMES.getParameterNames(method);
		this.root = new TypedValue(new Root(method, targetClass));
		this.positions = positions();
		this.fixedKey = name.isEmpty() ? targetClass.getName() + "#" + signature(method) : name;
	}

	private Map<String, Integer> positions() {
		Map<String, Integer> positions = new HashMap<>();
		for (int i = 0; i < this.method.getParameterCount(); i++) {
			positions.put("p" + i, i);
			positions.put("a" + i, i);
			// the continuation of a suspending function has no name
			if (this.parameterNames != null && i < this.parameterNames.length) {
				positions.put(this.parameterNames[i], i);
			}
		}
		return Map.copyOf(positions);
	}

	/**
	 * Create the key of a method.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @param name the name, may be empty
	 * @param expression the expression, may be empty
	 * @return the key
	 * @throws InvalidLockedMethodException if the expression can not be evaluated
	 */
	static LockKey of(Method method, Class<?> targetClass, String name, String expression) {
		if (!StringUtils.hasText(expression)) {
			return new LockKey(method, targetClass, name, null);
		}
		LockKey key = new LockKey(method, targetClass, name, parse(method, expression));
		key.checkReferences();
		return key;
	}

	private static SpelExpression parse(Method method, String expression) {
		try {
			return (SpelExpression) PARSER.parseExpression(expression);
		}
		catch (ParseException | IllegalStateException ex) {
			throw new InvalidLockedMethodException(method,
					"has the key '" + expression + "', which is no SpEL expression: " + ex.getMessage(),
					"A constant key needs quotes: \"'nightly'\"", ex);
		}
	}

	/**
	 * An expression that can never work is found at start-up and not by the first order.
	 */
	private void checkReferences() {
		SpelExpression parsed = expression();
		Set<String> known = knownVariables();
		for (SpelNode node : nodes(parsed.getAST(), new ArrayList<>())) {
			if (node instanceof TypeReference || node instanceof ConstructorReference || node instanceof BeanReference
					|| node instanceof FunctionReference || node instanceof Assign) {
				throw new InvalidLockedMethodException(this.method,
						"has the key '%s', which uses %s: a key sees the arguments and the method only"
							.formatted(parsed.getExpressionString(), node.toStringAST()),
						"Compute the key from the arguments, or use the LockRegistry", null);
			}
			if (node instanceof VariableReference variable && !known.contains(variable.toStringAST().substring(1))) {
				throw new InvalidLockedMethodException(this.method,
						"has the key '%s', but there is no variable %s: there are %s"
							.formatted(parsed.getExpressionString(), variable.toStringAST(), known),
						(this.parameterNames == null) ? PARAMETERS_HINT : "Name a parameter of the method", null);
			}
		}
		SpelNode first = first(parsed.getAST());
		if (first instanceof PropertyOrFieldReference property && !ROOT_PROPERTIES.contains(property.getName())) {
			throw new InvalidLockedMethodException(this.method,
					"has the key '%s', but '%s' is neither a variable nor a constant"
						.formatted(parsed.getExpressionString(), property.getName()),
					"A parameter needs a #, a constant needs quotes: \"#%1$s\" or \"'%1$s'\""
						.formatted(property.getName()),
					null);
		}
	}

	private Set<String> knownVariables() {
		Set<String> known = new TreeSet<>(Set.of("root", "this"));
		known.addAll(this.positions.keySet());
		return known;
	}

	private static List<SpelNode> nodes(SpelNode node, List<SpelNode> nodes) {
		nodes.add(node);
		for (int i = 0; i < node.getChildCount(); i++) {
			nodes(node.getChild(i), nodes);
		}
		return nodes;
	}

	private static SpelNode first(SpelNode node) {
		return (node instanceof CompoundExpression) ? node.getChild(0) : node;
	}

	/**
	 * The key of a call. Evaluated once, before the method can change its arguments.
	 * @param arguments the arguments
	 * @return the key, with its name
	 * @throws IllegalArgumentException if the expression yields nothing that could be a
	 * key
	 */
	String evaluate(@Nullable Object[] arguments) {
		if (this.expression == null) {
			return this.fixedKey;
		}
		String key = text(value(arguments));
		return this.name.isEmpty() ? key : this.name + ":" + key;
	}

	private static String signature(Method method) {
		StringBuilder signature = new StringBuilder(method.getName()).append('(');
		for (Class<?> type : method.getParameterTypes()) {
			signature.append((signature.charAt(signature.length() - 1) != '(') ? "," : "").append(type.getTypeName());
		}
		return signature.append(')').toString();
	}

	private @Nullable Object value(@Nullable Object[] arguments) {
		try {
			return expression().getValue(new CallContext(this.root, this.positions, arguments));
		}
		catch (EvaluationException ex) {
			throw new IllegalArgumentException(
					"The key " + this + " could not be evaluated for this call: " + ex.getMessage(), ex);
		}
	}

	private String text(@Nullable Object value) {
		if (value == null) {
			throw new IllegalArgumentException("The key " + this
					+ " is null for this call, and null would be one lock for everybody. Pass an argument that has it"
					+ ((this.parameterNames == null) ? "; if a parameter seems to be missing: " + PARAMETERS_HINT
							: ""));
		}
		if (hasIdentityText(value)) {
			throw new IllegalArgumentException(
					"The key %s is a %s, which has no toString() of its own: every object would be another lock. Use one of its properties"
						.formatted(this, value.getClass().getTypeName()));
		}
		String text = value.toString();
		if (!StringUtils.hasText(text)) {
			throw new IllegalArgumentException(
					"The key " + this + " is blank for this call, which would be one lock for everybody");
		}
		return text;
	}

	private static boolean hasIdentityText(Object value) {
		if (value instanceof String || value instanceof Number) {
			return false;
		}
		Method toString = ReflectionUtils.findMethod(value.getClass(), "toString");
		return toString == null || toString.getDeclaringClass() == Object.class;
	}

	private SpelExpression expression() {
		if (this.expression == null) {
			throw new IllegalStateException("There is no expression");
		}
		return this.expression;
	}

	@Override
	public String toString() {
		return "'%s' of @DistributedLocked on %s.%s".formatted(expression().getExpressionString(),
				this.targetClass.getName(), this.method.getName());
	}

	/**
	 * What {@code #root} is in an expression.
	 *
	 * @param method the locked method
	 * @param targetClass the class of the bean
	 */
	record Root(Method method, Class<?> targetClass) {

	}

}
