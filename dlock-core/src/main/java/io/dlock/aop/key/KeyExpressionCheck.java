package io.dlock.aop.key;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.NullLiteral;
import org.springframework.expression.spel.ast.OpDivide;
import org.springframework.expression.spel.ast.OpMinus;
import org.springframework.expression.spel.ast.OpModulus;
import org.springframework.expression.spel.ast.OpMultiply;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.OperatorPower;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;

/**
 * Finds errors at start-up that would otherwise occur at the first call: an expression
 * that can never be evaluated, and one whose declared types cannot be part of a key.
 */
final class KeyExpressionCheck {

	private static final Set<Class<? extends SpelNode>> ARITHMETIC = Set.of(OpMinus.class, OpMultiply.class,
			OpDivide.class, OpModulus.class, OperatorPower.class);

	private static final Pattern CONSTANT = Pattern.compile("[\\w.-]+");

	private static final Pattern ROOTED = Pattern.compile("#root\\??\\.(?!method\\b|targetClass\\b)");

	private static final ResolvableType ROOT = ResolvableType.forClass(KeyScope.Root.class);

	private static final ResolvableType LIST = ResolvableType.forClass(List.class);

	private static final ResolvableType TEXT = ResolvableType.forClass(String.class);

	private static final ResolvableType NUMBER = ResolvableType.forClass(Number.class);

	private final String expression;

	private final KeyScope scope;

	/** The type of {@code #this}, of which a name without a {@code #} is a property. */
	private final ResolvableType active;

	/** Whether the value may be several keys. */
	private final boolean several;

	KeyExpressionCheck(String expression, KeyScope scope, boolean several) {
		this(expression, scope, ROOT, several);
	}

	private KeyExpressionCheck(String expression, KeyScope scope, ResolvableType active, boolean several) {
		this.expression = expression;
		this.scope = scope;
		this.active = active;
		this.several = several;
	}

	/**
	 * Check an expression.
	 * @param node the expression
	 * @throws RefusedKeyException if it cannot be a key
	 */
	void check(SpelNode node) {
		new KeyReferenceCheck(this.expression, this.scope).check(node);
		checkPart(node);
	}

	/**
	 * Check a part whose value becomes text.
	 */
	private void checkPart(SpelNode node) {
		if (node instanceof KeyOperand) {
			checkPart(node.getChild(0));
		}
		else if (node instanceof Ternary) {
			typeOf(node.getChild(0));
			checkPart(node.getChild(1));
			checkPart(node.getChild(2));
		}
		else if (node instanceof Elvis) {
			checkPart(node.getChild(0));
			checkPart(node.getChild(1));
		}
		else if (node instanceof NullLiteral) {
			throw refusal("but null has no text", "A constant needs quotes: \"'null'\"");
		}
		else if (this.several) {
			checkKeys(node);
		}
		else {
			checkType(node, typeOf(node));
		}
	}

	private void checkKeys(SpelNode node) {
		if (node instanceof InlineList) {
			KeyExpressionCheck each = new KeyExpressionCheck(this.expression, this.scope, this.active, false);
			for (int i = 0; i < node.getChildCount(); i++) {
				each.checkPart(node.getChild(i));
			}
			return;
		}
		ResolvableType type = typeOf(node);
		Class<?> known = DeclaredTypes.known(type);
		boolean iterated = known != null && this.scope.texts().isSeveral(known);
		ResolvableType key = iterated ? DeclaredTypes.ofIterated(type) : type;
		String subject = (iterated ? "an element of " : "") + node.toStringAST();
		try {
			KeyElements.checkKey(DeclaredTypes.known(key));
			this.scope.texts().check(key);
			if (iterated && node instanceof VariableReference) {
				subject = node.toStringAST();
				KeyElements.checkArgument(type.toClass());
			}
		}
		catch (RefusedKeyException ex) {
			throw refusal("but %s %s".formatted(subject, ex.problem()), ex.action());
		}
	}

	private void checkType(SpelNode node, ResolvableType type) {
		try {
			this.scope.texts().check(type);
		}
		catch (RefusedKeyException ex) {
			throw refusal("but %s %s".formatted(node.toStringAST(), ex.problem()), ex.action());
		}
	}

	private ResolvableType typeOf(SpelNode node) {
		return typeOf(node, this.active);
	}

	/**
	 * The declared type of the value of an expression.
	 * @param node the expression
	 * @param owner the type of the value that the expression is read from
	 * @return the type, or {@link ResolvableType#NONE}
	 */
	private ResolvableType typeOf(SpelNode node, ResolvableType owner) {
		if (node instanceof CompoundExpression) {
			ResolvableType type = owner;
			for (int i = 0; i < node.getChildCount(); i++) {
				type = typeOf(node.getChild(i), type);
			}
			return type;
		}
		if (node instanceof VariableReference variable) {
			Integer position = this.scope.position(name(variable));
			return (position != null) ? this.scope.type(position) : name(variable).equals("this") ? this.active : ROOT;
		}
		if (node instanceof PropertyOrFieldReference property) {
			return typeOfProperty(property, property.isNullSafe() ? DeclaredTypes.unwrapped(owner) : owner);
		}
		if (node instanceof MethodReference call) {
			return typeOfCall(call, owner);
		}
		if (node instanceof Indexer) {
			// the name of an entry of a map looks like a property
			if (!(node.getChild(0) instanceof PropertyOrFieldReference)) {
				typeOf(node.getChild(0));
			}
			return DeclaredTypes.ofElement(owner);
		}
		if (node instanceof Projection || node instanceof Selection) {
			ResolvableType each = DeclaredTypes.ofEach(owner);
			ResolvableType result = new KeyExpressionCheck(this.expression, this.scope, each, false)
				.typeOf(node.getChild(0));
			Class<?> type = DeclaredTypes.known(owner);
			if (type == null || !KeyValueTypes.isSeveral(type)) {
				return ResolvableType.NONE;
			}
			if (node instanceof Projection) {
				return listOf(result);
			}
			boolean all = node.toStringAST().startsWith("?");
			return (all && !Map.class.isAssignableFrom(type)) ? listOf(each) : ResolvableType.NONE;
		}
		return typeOfValue(node);
	}

	private static ResolvableType listOf(ResolvableType element) {
		return ResolvableType.forClassWithGenerics(List.class, element);
	}

	private ResolvableType typeOfProperty(PropertyOrFieldReference property, ResolvableType owner) {
		ResolvableType type = DeclaredTypes.ofProperty(owner, property.getName());
		if (type != null) {
			return type;
		}
		if (owner.equals(ROOT) && ROOTED.matcher(this.expression).find()) {
			throw refusal("but #root has no '%s'".formatted(property.getName()),
					"#root has method and targetClass, such as #root.method.name; #p0 is the first argument");
		}
		if (owner.equals(ROOT)) {
			throw refusal("but '%s' is neither a variable nor a constant".formatted(property.getName()),
					"A parameter needs a #, a constant needs quotes: \"#%s\" or \"'%s'\"".formatted(property.getName(),
							CONSTANT.matcher(this.expression).matches() ? this.expression : property.getName()));
		}
		throw refusal("but %s has no property '%s'".formatted(owner, property.getName()),
				"Name a public getter, a component of a record or a public field of that type");
	}

	private ResolvableType typeOfCall(MethodReference call, ResolvableType owner) {
		for (int i = 0; i < call.getChildCount(); i++) {
			typeOf(call.getChild(i));
		}
		ResolvableType value = call.isNullSafe() ? DeclaredTypes.unwrapped(owner) : owner;
		ResolvableType type = !value.equals(owner) ? ResolvableType.NONE
				: DeclaredTypes.ofMethod(owner, call.getName(), call.getChildCount());
		if (type == null) {
			throw refusal("but %s has no method '%s' that a key may call".formatted(owner, call.getName()),
					"Name a public method of that type; a Class and a ClassLoader have none");
		}
		if (call.getChildCount() == 0) {
			DeclaredTypes.bounds(value).forEach((bound) -> checkMethod(call, bound));
		}
		return (call.getName().equals("toString") && call.getChildCount() == 0) ? TEXT : type;
	}

	private void checkMethod(MethodReference call, ResolvableType owner) {
		Class<?> type = DeclaredTypes.known(owner);
		try {
			if (type != null) {
				KeyValueTypes.checkMethod(type, call.getName());
			}
		}
		catch (RefusedKeyException ex) {
			checkType(call, owner);
			throw refusal("which " + ex.problem(), ex.action());
		}
	}

	private ResolvableType typeOfValue(SpelNode node) {
		if (node instanceof Literal literal) {
			return ResolvableType.forInstance(literal.getLiteralValue().getValue());
		}
		if (node instanceof OpPlus) {
			return typeOfSum(node);
		}
		if (node instanceof InlineList || node instanceof InlineMap) {
			return (node instanceof InlineList) ? LIST : ResolvableType.forClass(Map.class);
		}
		boolean numbers = ARITHMETIC.contains(node.getClass());
		for (int i = 0; i < node.getChildCount(); i++) {
			numbers &= DeclaredTypes.isNumber(typeOf(node.getChild(i)));
		}
		return numbers ? NUMBER : ResolvableType.NONE;
	}

	private ResolvableType typeOfSum(SpelNode sum) {
		boolean numbers = true;
		boolean parts = true;
		boolean text = false;
		boolean certain = false;
		for (int i = 0; i < sum.getChildCount(); i++) {
			SpelNode operand = sum.getChild(i);
			parts &= operand instanceof KeyOperand;
			ResolvableType type = typeOf((operand instanceof KeyOperand) ? operand.getChild(0) : operand);
			numbers &= DeclaredTypes.isNumber(type);
			text |= !DeclaredTypes.mayBeNumber(type);
			certain |= DeclaredTypes.isNumber(type) && (operand instanceof Literal || type.toClass().isPrimitive());
		}
		if (numbers) {
			return NUMBER;
		}
		if (!parts && certain && !text) {
			// the sum of a number and null fails at the call
			return ResolvableType.NONE;
		}
		if (!parts) {
			throw refusal("but in %s a null would become the text \"null\"".formatted(sum.toStringAST()),
					"Concatenate at the end: \"#a + '-' + #b\", or declare the operands as numbers");
		}
		for (int i = 0; i < sum.getChildCount(); i++) {
			checkPart(sum.getChild(i));
		}
		return TEXT;
	}

	private static String name(VariableReference variable) {
		return variable.toStringAST().substring(1);
	}

	private RefusedKeyException refusal(String problem, String action) {
		return new RefusedKeyException("has the key '%s', %s".formatted(this.expression, problem), action);
	}

}
