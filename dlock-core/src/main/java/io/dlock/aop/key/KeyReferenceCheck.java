package io.dlock.aop.key;

import java.util.List;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;

/**
 * Finds unresolvable references in a key expression at start-up.
 *
 * @param expression the expression
 * @param scope the method
 */
record KeyReferenceCheck(String expression, KeyScope scope) {

	private static final List<Class<? extends SpelNode>> OUT_OF_SIGHT = List.of(TypeReference.class,
			ConstructorReference.class, BeanReference.class, FunctionReference.class, Assign.class, OpInc.class,
			OpDec.class);

	/**
	 * Check an expression and its parts.
	 * @param node the expression
	 * @throws RefusedKeyException if it refers to something that a key does not see
	 */
	void check(SpelNode node) {
		if (OUT_OF_SIGHT.contains(node.getClass())) {
			throw refusal("which uses %s: a key sees the arguments and the method only".formatted(node.toStringAST()),
					"Compute the key from the arguments, or use the LockRegistry");
		}
		Integer hidden = this.scope.position("root");
		if (hidden != null && node instanceof VariableReference && node.toStringAST().equals("#root")) {
			throw refusal("but #root is the method and not the parameter of that name",
					"Write #p%d for the parameter".formatted(hidden));
		}
		if (node instanceof VariableReference variable
				&& !this.scope.variables().contains(variable.toStringAST().substring(1))) {
			throw refusal(
					"but there is no variable %s: there are %s".formatted(variable.toStringAST(),
							this.scope.variables()),
					this.scope.isNamed() ? "Name a parameter of the method" : KeyScope.PARAMETERS_HINT);
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			check(node.getChild(i));
		}
	}

	private RefusedKeyException refusal(String problem, String action) {
		return new RefusedKeyException("has the key '%s', %s".formatted(this.expression, problem), action);
	}

}
