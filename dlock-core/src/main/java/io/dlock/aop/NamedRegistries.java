package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanCurrentlyInCreationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;

import io.dlock.LockRegistry;
import io.dlock.LockRequest;

/**
 * The registries that annotations name, and the default one.
 *
 * @param defaultRegistry the default registry
 * @param beans has the others, or {@code null} if there are no beans
 */
record NamedRegistries(Supplier<LockRegistry> defaultRegistry, Supplier<? extends @Nullable BeanFactory> beans) {

	/**
	 * Find the registry of a method.
	 * @param name the name or qualifier of its bean, or an empty text
	 * @return the registry, or {@code null} if none is named
	 * @throws InvalidLockedMethodException if there is no such registry
	 */
	@Nullable LockRegistry find(String name, Method method) {
		if (name.isEmpty()) {
			return null;
		}
		BeanFactory factory = this.beans.get();
		try {
			if (factory != null) {
				return BeanFactoryAnnotationUtils.qualifiedBeanOfType(factory, LockRegistry.class, name);
			}
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw unknown(name, names(factory), method, ex);
		}
		catch (BeanCreationException ex) {
			throw uncreated(ex, method);
		}
		throw unknown(name, "none", method, null);
	}

	private static InvalidLockedMethodException unknown(String name, String existing, Method method,
			@Nullable BeansException cause) {
		return new InvalidLockedMethodException(method,
				"names the registry '%s', but not one LockRegistry bean has that name or qualifier. There are: %s"
					.formatted(name, existing),
				"Name one of them, or define the bean", cause);
	}

	private static String names(BeanFactory factory) {
		return (factory instanceof ListableBeanFactory listable)
				? Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(listable, LockRegistry.class))
					.sorted()
					.collect(Collectors.joining(", "))
				: "unknown";
	}

	/**
	 * Check that the store of a method has shared locks or limits, if the method needs
	 * them.
	 * @param request the request of the method
	 * @param limit the limit of the method, or {@code null}
	 * @param named the registry that the method names, or {@code null}
	 * @throws InvalidLockedMethodException if it has none
	 */
	void checkStore(LockRequest request, @Nullable Integer limit, @Nullable LockRegistry named, Method method) {
		LockRegistry asked = orDefault(named, method);
		try {
			if (limit != null) {
				asked.validatePermit(request, limit);
			}
			else {
				asked.validate(request);
			}
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLockedMethodException(method, "does not fit the store: " + ex.getMessage(),
					(limit != null) ? "Use @DistributedLocked, or a store that has limits"
							: "Use mode = EXCLUSIVE, or a store that has shared locks",
					ex);
		}
	}

	/**
	 * The registry of a method.
	 * @param named the registry that the method names, or {@code null}
	 * @throws InvalidLockedMethodException if it needs the bean that is being created
	 */
	LockRegistry orDefault(@Nullable LockRegistry named, Method method) {
		try {
			return (named != null) ? named : this.defaultRegistry.get();
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new InvalidLockedMethodException(method,
					"names no registry, and there are several: " + ex.getBeanNamesFound(),
					"Name one, such as registry = \"%s\", or mark one of the LockRegistry beans @Primary".formatted(
							(ex.getBeanNamesFound() != null) ? ex.getBeanNamesFound().iterator().next() : ""),
					ex);
		}
		catch (BeanCreationException ex) {
			throw uncreated(ex, method);
		}
	}

	private static RuntimeException uncreated(BeanCreationException ex, Method method) {
		return ex.contains(BeanCurrentlyInCreationException.class) ? new InvalidLockedMethodException(method,
				"needs the LockRegistry, which cannot be created before the locked bean",
				"Declare the @Bean methods that the LockRegistry needs, such as that of the DataSource, static, "
						+ "or move the locked method to another bean",
				ex) : ex;
	}

}
