package io.dlock.aop.key;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * The context of an expression at a call: the arguments, by name and number, and the
 * root. All the rest is shared between the calls, and as restricted as Spring's
 * {@link SimpleEvaluationContext} for reading.
 */
final class KeyEvaluationContext implements EvaluationContext {

	private final KeyScope scope;

	private final EvaluationContext restricted;

	private final @Nullable Object[] arguments;

	/**
	 * Create the context of a call.
	 * @param scope the part that all calls share
	 */
	KeyEvaluationContext(KeyScope scope, @Nullable Object[] arguments) {
		this.scope = scope;
		this.restricted = scope.texts().restricted();
		this.arguments = arguments;
	}

	@Override
	public TypedValue getRootObject() {
		return this.scope.root();
	}

	@Override
	public @Nullable Object lookupVariable(String name) {
		Integer position = this.scope.position(name);
		return (position != null && position < this.arguments.length) ? this.arguments[position] : null;
	}

	@Override
	public void setVariable(String name, @Nullable Object value) {
		throw new UnsupportedOperationException("The key of a lock reads, it does not assign");
	}

	@Override
	public boolean isAssignmentEnabled() {
		return false;
	}

	@Override
	public List<PropertyAccessor> getPropertyAccessors() {
		return this.restricted.getPropertyAccessors();
	}

	@Override
	public List<IndexAccessor> getIndexAccessors() {
		return this.restricted.getIndexAccessors();
	}

	@Override
	public List<ConstructorResolver> getConstructorResolvers() {
		return this.restricted.getConstructorResolvers();
	}

	@Override
	public List<MethodResolver> getMethodResolvers() {
		return this.restricted.getMethodResolvers();
	}

	@Override
	public @Nullable BeanResolver getBeanResolver() {
		return this.restricted.getBeanResolver();
	}

	@Override
	public TypeLocator getTypeLocator() {
		return this.restricted.getTypeLocator();
	}

	@Override
	public TypeConverter getTypeConverter() {
		return this.scope.texts();
	}

	@Override
	public TypeComparator getTypeComparator() {
		return this.restricted.getTypeComparator();
	}

	@Override
	public OperatorOverloader getOperatorOverloader() {
		return this.restricted.getOperatorOverloader();
	}

}
