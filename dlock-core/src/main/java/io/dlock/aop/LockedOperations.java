package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.dlock.DistributedLocked;
import io.dlock.aop.call.LockedOperation;
import io.dlock.aop.call.ReturnKind;

/**
 * The locked methods of the application: each annotation is read once, when its bean is
 * created.
 */
final class LockedOperations {

	private final Map<Class<?>, Map<Method, LockedOperation>> operations = new ConcurrentHashMap<>();

	/** The locked methods of each class. */
	private final Map<Class<?>, List<Method>> checked = new ConcurrentHashMap<>();

	private final Map<ProxiedClass, List<Method>> checkedProxies = new ConcurrentHashMap<>();

	private final LockedOperationParser parser;

	LockedOperations(LockedOperationParser parser) {
		this.parser = parser;
	}

	/**
	 * Check all locked methods of a class.
	 * @param targetClass the class of a bean
	 * @return the locked methods
	 * @throws InvalidLockedMethodException if one cannot be honoured
	 */
	List<Method> check(Class<?> targetClass) {
		List<Method> locked = this.checked.get(targetClass);
		if (locked == null) {
			locked = LockedAnnotations.methods(targetClass);
			locked.forEach((method) -> get(method, targetClass));
			this.checked.put(targetClass, locked);
		}
		return locked;
	}

	/**
	 * Check the locked methods of the interfaces of a proxy.
	 * @param proxyClass the class of a JDK proxy
	 * @param targetClass the class of its target, if that is advised by itself, or
	 * {@code null}
	 * @return the locked methods that are not handled by the advice of the target
	 * @throws InvalidLockedMethodException if one cannot be honoured
	 */
	List<Method> checkProxy(Class<?> proxyClass, @Nullable Class<?> targetClass) {
		ProxiedClass type = new ProxiedClass(proxyClass, targetClass);
		List<Method> locked = this.checkedProxies.get(type);
		if (locked == null) {
			locked = List.copyOf(readProxy(proxyClass, targetClass));
			this.checkedProxies.put(type, locked);
		}
		return locked;
	}

	private List<Method> readProxy(Class<?> proxyClass, @Nullable Class<?> targetClass) {
		List<Method> locked = new ArrayList<>();
		for (Method method : LockedAnnotations.methods(proxyClass)) {
			if (targetClass != null && LockedAnnotations.isLocked(method, targetClass)) {
				get(method, targetClass);
			}
			else {
				get(method, proxyClass);
				locked.add(method);
			}
		}
		return locked;
	}

	/**
	 * Whether there is a method that may be part of a reactive transaction.
	 * @return whether there is one, among those checked
	 */
	boolean hasReactive() {
		return this.operations.values()
			.stream()
			.flatMap((ofClass) -> ofClass.values().stream())
			.anyMatch((operation) -> operation.returnType().kind() == ReturnKind.PUBLISHER);
	}

	LockedOperation get(Method method, Class<?> targetClass) {
		Map<Method, LockedOperation> ofClass = this.operations.get(targetClass);
		LockedOperation operation = (ofClass != null) ? ofClass.get(method) : null;
		if (operation == null) {
			operation = read(method, targetClass);
			this.operations.computeIfAbsent(targetClass, (type) -> new ConcurrentHashMap<>()).put(method, operation);
		}
		return operation;
	}

	private LockedOperation read(Method method, Class<?> targetClass) {
		Method specific = LockedAnnotations.specific(method, targetClass);
		if (!specific.equals(method)) {
			return get(specific, targetClass);
		}
		DistributedLocked annotation = LockedAnnotations.find(method, targetClass);
		if (annotation == null) {
			throw new IllegalStateException(method + " is not annotated");
		}
		LockedAnnotations.checkUnique(method, targetClass);
		return this.parser.parse(annotation, specific, targetClass);
	}

}
