package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockMode;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.OnBusy;
import io.dlock.OnStoreFailure;
import io.dlock.aop.call.LockedOperation;
import io.dlock.aop.call.LockedReturnType;
import io.dlock.aop.call.ReturnKind;
import io.dlock.aop.call.StoreFailureHandler;
import io.dlock.aop.key.KeyValueFormatter;
import io.dlock.aop.key.LockKey;
import io.dlock.aop.key.RefusedKeyException;
import io.dlock.observation.CallObservationFactory;

/**
 * Reads a {@link DistributedLocked} annotation and refuses one that cannot be honoured.
 */
final class LockedOperationParser {

	private static final Log logger = LogFactory.getLog(LockedOperationParser.class);

	private final AttributeValues values;

	private final Supplier<OnStoreFailure> onStoreFailure;

	private final MethodCheck methodCheck;

	private final NamedRegistries registries;

	private final CallObservationFactory observations;

	private final KeyValueFormatter texts;

	LockedOperationParser(StringValueResolver values, Supplier<OnStoreFailure> onStoreFailure, MethodCheck methodCheck,
			NamedRegistries registries, CallObservationFactory observations, KeyValueFormatter texts) {
		this.values = new AttributeValues(values);
		this.onStoreFailure = onStoreFailure;
		this.methodCheck = methodCheck;
		this.registries = registries;
		this.observations = observations;
		this.texts = texts;
	}

	LockedOperation parse(DistributedLocked annotation, Method method, Class<?> targetClass) {
		this.methodCheck.check(method, targetClass);
		LockedReturnType returnType = ReturnTypeResolver.resolve(method, targetClass);
		DeclaredAnnotation written = DeclaredAnnotation.on(method);
		Class<?> named = LockedAnnotations.named(method, targetClass);
		String name = this.values.text(annotation.name(), written.attribute("name"), method);
		LockKey key = key(annotation, method, named, name);
		Method fallback = fallback(annotation, method, targetClass, returnType);
		if (annotation.onBusy() == OnBusy.SKIP) {
			SkippedResults.check(method, targetClass, fallback, returnType);
		}
		Duration lease = this.values.duration(annotation.lease(), written.attribute("lease"), false, method);
		Duration minHold = this.values.duration(annotation.minHold(), written.attribute("minHold"), true, method);
		Duration maxHold = written.isScheduled() ? atMost(name, lease, minHold, method)
				: this.values.duration(annotation.maxHold(), written.attribute("maxHold"), false, method);
		Integer limit = limit(annotation, name, method, targetClass);
		checkMode(annotation, minHold, method);
		warnOfBareKey(key, annotation, method);
		hintAtWholeMethod(annotation, name, method);
		StoreFailureHandler storeFailureHandler = storeFailureHandler(annotation, method, named, fallback);
		String reason = reason(annotation, method, named);
		LockRegistry registry = this.registries.find(this.values.text(annotation.registry(), "registry", method),
				method);
		String shownName = name.isEmpty() ? nameOf(method, named) : name;
		LockRequestBuilder template = LockRequest.builder(shownName)
			.mode(annotation.mode())
			.lease(lease)
			.waitTime(this.values.duration(annotation.waitTime(), written.attribute("waitTime"), true, method))
			.renew(annotation.renew())
			.reentrant(annotation.reentrant())
			.fair(annotation.fair() ? true : null)
			.reason(reason)
			.name(shownName)
			.minHold(minHold)
			.maxHold(maxHold)
			.failOpen(storeFailureHandler.isFailOpen());
		LockRequest request = checked(template, registry, method);
		this.registries.checkStore(request, limit, registry, method);
		return new LockedOperation(key, request, limit, annotation.onBusy(), fallback, annotation.onLost(), reason,
				shownName, storeFailureHandler, this.observations, returnType, registry);
	}

	/**
	 * The limit of a method, which is one for all its calls only if that was said.
	 */
	private @Nullable Integer limit(DistributedLocked annotation, String name, Method method, Class<?> targetClass) {
		DistributedLimit declared = LockedAnnotations.findLimit(method, targetClass);
		if (declared == null) {
			return null;
		}
		if (name.isEmpty() && annotation.key().isEmpty()) {
			throw new InvalidLockedMethodException(method, "has neither key nor name",
					"Say what is limited, such as name = \"export\" for all calls or key = \"#id\" for each id", null);
		}
		return this.values.limit(declared.limit(), method);
	}

	private static void checkMode(DistributedLocked annotation, @Nullable Duration minHold, Method method) {
		if (annotation.mode() != LockMode.SHARED) {
			return;
		}
		if (annotation.fair()) {
			throw new InvalidLockedMethodException(method,
					"has mode = SHARED and fair = true, which shared locks do not support: they queue in the order of their processes",
					"Leave out fair, or use mode = EXCLUSIVE", null);
		}
		if (minHold != null) {
			throw new InvalidLockedMethodException(method,
					"has mode = SHARED and a minHold, which would exclude holders that a shared lock admits",
					"Leave out the minHold, or use mode = EXCLUSIVE", null);
		}
	}

	private LockRequest checked(LockRequestBuilder template, @Nullable LockRegistry registry, Method method) {
		try {
			LockRequest request = template.build();
			this.registries.orDefault(registry, method).validate(request.withMode(LockMode.EXCLUSIVE));
			return request;
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLockedMethodException(method, "does not fit the configuration: " + ex.getMessage(),
					DeclaredAnnotation.on(method).isScheduled() ? "Change its atMost or atLeast"
							: "Change the annotation, dlock.command-timeout or dlock.max-hold",
					ex);
		}
	}

	/**
	 * A scheduled method has a limit of its own, whatever that of others is.
	 */
	private static Duration atMost(String name, @Nullable Duration atMost, @Nullable Duration atLeast, Method method) {
		if (!StringUtils.hasText(name)) {
			throw new InvalidLockedMethodException(method, "has a blank name",
					"Name the job: all instances lock that name", null);
		}
		if (atMost == null) {
			throw new InvalidLockedMethodException(method, "has no atMost",
					"Say how long the lock is kept if the instance dies, like \"30m\"", null);
		}
		if (atLeast != null && atLeast.compareTo(atMost) > 0) {
			throw new InvalidLockedMethodException(method,
					"has the atLeast %s, which is longer than its atMost %s".formatted(atLeast, atMost),
					"Use a shorter atLeast or a longer atMost", null);
		}
		return atMost;
	}

	private LockKey key(DistributedLocked annotation, Method method, Class<?> named, String name) {
		String expression = this.values.text(annotation.key(), "key", method);
		List<String> several = keys(annotation, method);
		if (!expression.isEmpty() && !several.isEmpty()) {
			throw new InvalidLockedMethodException(method,
					"has both the key '%s' and the keys %s".formatted(expression, several),
					"Move the key to the keys, which are all locked", null);
		}
		try {
			return several.isEmpty() ? LockKey.of(method, named, name, expression, this.texts)
					: LockKey.several(method, named, name, several, this.texts);
		}
		catch (RefusedKeyException ex) {
			throw new InvalidLockedMethodException(method, ex.problem(), ex.action(), ex.getCause());
		}
	}

	private List<String> keys(DistributedLocked annotation, Method method) {
		return Arrays.stream(annotation.keys()).map((each) -> {
			String expression = this.values.text(each, "keys", method);
			if (expression.isEmpty()) {
				throw new InvalidLockedMethodException(method,
						"has the keys %s, of which one is empty".formatted(Arrays.toString(annotation.keys())),
						"Leave it out, or give it an expression", null);
			}
			return expression;
		}).toList();
	}

	private static void warnOfBareKey(LockKey key, DistributedLocked annotation, Method method) {
		if (key.isBare()) {
			logger.warn(("%s on %s has the %s and no name: it also excludes all other methods, "
					+ "and other applications with the same store, whose key has the same text. "
					+ "Add a name that says what is locked, such as name = \"orders\"")
				.formatted(DeclaredAnnotation.on(method), ClassUtils.getQualifiedMethodName(method), key.isSeveral()
						? "keys " + Arrays.toString(annotation.keys()) : "key '" + annotation.key() + "'"));
		}
	}

	private static void hintAtWholeMethod(DistributedLocked annotation, String name, Method method) {
		int arguments = method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
		if (arguments > 0 && name.isEmpty() && annotation.key().isEmpty() && annotation.keys().length == 0) {
			logger.info(("@DistributedLocked on %s has neither key nor name: all its calls exclude each other, "
					+ "whatever their arguments. Add the key of what is locked, such as key = \"#id\", "
					+ "or a name to say that this is meant")
				.formatted(ClassUtils.getQualifiedMethodName(method)));
		}
	}

	private StoreFailureHandler storeFailureHandler(DistributedLocked annotation, Method method, Class<?> targetClass,
			@Nullable Method fallback) {
		if (annotation.onStoreFailure() == OnStoreFailure.FALLBACK && fallback == null) {
			throw new InvalidLockedMethodException(method, "has onStoreFailure = FALLBACK and names no fallback",
					"Name the fallback, or use onStoreFailure = THROW", null);
		}
		OnStoreFailure policy = (annotation.onStoreFailure() != OnStoreFailure.DEFAULT) ? annotation.onStoreFailure()
				: this.onStoreFailure.get();
		return new StoreFailureHandler(policy, nameOf(method, targetClass), System::nanoTime);
	}

	private @Nullable Method fallback(DistributedLocked annotation, Method method, Class<?> targetClass,
			LockedReturnType returnType) {
		if (this.values.text(annotation.fallback(), "fallback", method).isEmpty()) {
			return null;
		}
		Method fallback = ReflectionUtils.findMethod(targetClass, annotation.fallback(), method.getParameterTypes());
		if (fallback == null) {
			throw new InvalidLockedMethodException(method,
					"names the fallback '%s', but %s has no such method with the same parameters".formatted(
							annotation.fallback(), targetClass.getName()),
					"Add the method, or correct the name", null);
		}
		if (Modifier.isStatic(method.getModifiers()) && !Modifier.isStatic(fallback.getModifiers())) {
			throw new InvalidLockedMethodException(method,
					"is static and names the fallback '%s', which is not".formatted(annotation.fallback()),
					"Make the fallback static", null);
		}
		if (LockedAnnotations.isLocked(fallback, targetClass)) {
			throw new InvalidLockedMethodException(method,
					"names the fallback '%s', which is locked itself but would run without its lock"
						.formatted(annotation.fallback()),
					"Name a method without @DistributedLocked", null);
		}
		if (!ClassUtils.isAssignable(returned(method, targetClass), returned(fallback, targetClass))) {
			throw new InvalidLockedMethodException(method,
					"names the fallback '%s', which returns %s instead of %s".formatted(annotation.fallback(),
							returned(fallback, targetClass).getName(), returned(method, targetClass).getName()),
					"Change the return type of the fallback", null);
		}
		if (returnType.kind() == ReturnKind.VALUE) {
			checkExceptions(method, fallback);
		}
		ReflectionUtils.makeAccessible(fallback);
		return fallback;
	}

	private static Class<?> returned(Method method, Class<?> targetClass) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			return new MethodParameter(method, -1).getParameterType();
		}
		return ResolvableType.forMethodReturnType(method, targetClass).resolve(method.getReturnType());
	}

	/**
	 * An undeclared checked exception would reach the caller inside another one.
	 */
	private static void checkExceptions(Method method, Method fallback) {
		for (Class<?> thrown : fallback.getExceptionTypes()) {
			if (!ReflectionUtils.declaresException(method, thrown) && !RuntimeException.class.isAssignableFrom(thrown)
					&& !Error.class.isAssignableFrom(thrown)) {
				throw new InvalidLockedMethodException(method,
						"names the fallback '%s', which throws %s, and the method does not declare that"
							.formatted(fallback.getName(), thrown.getName()),
						"Declare the exception on the method too, or handle it in the fallback", null);
			}
		}
	}

	private String reason(DistributedLocked annotation, Method method, Class<?> targetClass) {
		String reason = this.values.resolve(annotation.reason(), "reason", method);
		return StringUtils.hasText(reason) ? reason : nameOf(method, targetClass);
	}

	private static String nameOf(Method method, Class<?> targetClass) {
		return targetClass.getSimpleName() + "." + method.getName();
	}

}
