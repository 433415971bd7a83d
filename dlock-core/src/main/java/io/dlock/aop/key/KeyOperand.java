package io.dlock.aop.key;

import org.springframework.expression.EvaluationException;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.Ternary;

/**
 * An operand of {@code +} in a key. By itself, SpEL makes the text "null" of
 * {@code null}, and text of any other object.
 */
final class KeyOperand extends SpelNodeImpl {

	private final KeyValueFormatter texts;

	private KeyOperand(SpelNodeImpl operand, KeyValueFormatter texts) {
		super(operand.getStartPosition(), operand.getEndPosition(), operand);
		this.texts = texts;
	}

	/**
	 * Replace the operands of {@code +}, as far as they are what the result consists of.
	 * @param node an expression
	 * @param texts the texts of the operands
	 * @return the same expression, which refuses operands that have no place in a key
	 */
	static SpelNodeImpl within(SpelNode node, KeyValueFormatter texts) {
		int start = node.getStartPosition();
		int end = node.getEndPosition();
		if (node instanceof OpPlus) {
			SpelNodeImpl[] operands = children(node, texts);
			for (int i = 0; i < operands.length; i++) {
				operands[i] = new KeyOperand(operands[i], texts);
			}
			return new OpPlus(start, end, operands);
		}
		if (node instanceof Ternary) {
			return new Ternary(start, end, children(node, texts));
		}
		if (node instanceof Elvis) {
			return new Elvis(start, end, children(node, texts));
		}
		if (node instanceof Projection each) {
			return new Projection(each.isNullSafe(), start, end, children(node, texts)[0]);
		}
		if (node instanceof InlineList) {
			return new InlineList(start, end, children(node, texts));
		}
		if (node instanceof CompoundExpression) {
			return new CompoundExpression(start, end, children(node, texts));
		}
		return (SpelNodeImpl) node;
	}

	private static SpelNodeImpl[] children(SpelNode node, KeyValueFormatter texts) {
		SpelNodeImpl[] children = new SpelNodeImpl[node.getChildCount()];
		for (int i = 0; i < children.length; i++) {
			children[i] = within(node.getChild(i), texts);
		}
		return children;
	}

	/**
	 * Numbers may be added, and are converted by the {@link KeyValueFormatter} if they
	 * are not.
	 */
	@Override
	public TypedValue getValueInternal(ExpressionState state) throws EvaluationException {
		TypedValue operand = this.children[0].getValueInternal(state);
		Object value = operand.getValue();
		if (value instanceof String || value instanceof Number) {
			return operand;
		}
		try {
			return new TypedValue(this.texts.of(value));
		}
		catch (RefusedKeyException ex) {
			throw ex.asPart(toStringAST());
		}
	}

	@Override
	public String toStringAST() {
		return this.children[0].toStringAST();
	}

}
