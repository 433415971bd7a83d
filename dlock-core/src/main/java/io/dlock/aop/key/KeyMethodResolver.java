package io.dlock.aop.key;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.MethodExecutor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.spel.support.DataBindingMethodResolver;

/**
 * The methods of values whose declared type does not tell what they stand for.
 */
final class KeyMethodResolver implements MethodResolver {

	private final MethodResolver methods = DataBindingMethodResolver.forInstanceMethodInvocation();

	@Override
	public @Nullable MethodExecutor resolve(EvaluationContext context, Object target, String name,
			List<TypeDescriptor> argumentTypes) throws AccessException {
		if (argumentTypes.isEmpty()) {
			KeyValueTypes.checkMethod(target.getClass(), name);
		}
		return this.methods.resolve(context, target, name, argumentTypes);
	}

}
