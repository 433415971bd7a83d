package io.dlock.aop.key;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanCurrentlyInCreationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.ResolvableType;

import io.dlock.LockKeyConverter;

/**
 * The {@link LockKeyConverter} beans of a context.
 */
public final class LockKeyConverters {

	private LockKeyConverters() {
	}

	/**
	 * Find the beans.
	 * @param beans the bean factory of the context, or {@code null} if there is none
	 * @return the converters, in their order
	 * @throws RefusedKeyException if one needs the bean that is being created
	 */
	public static List<LockKeyConverter<?>> in(@Nullable BeanFactory beans) {
		if (beans == null) {
			return List.of();
		}
		ObjectProvider<LockKeyConverter<?>> converters = beans
			.getBeanProvider(ResolvableType.forClass(LockKeyConverter.class));
		try {
			return converters.orderedStream().toList();
		}
		catch (BeanCreationException ex) {
			if (!ex.contains(BeanCurrentlyInCreationException.class)) {
				throw ex;
			}
			throw new RefusedKeyException("needs a LockKeyConverter, which cannot be created before the locked bean",
					"Declare the LockKeyConverter static, or in another configuration class");
		}
	}

}
