package io.dlock.transaction;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Warns about an {@code EntityManager} that is open before the lock is taken: the
 * transactions in the lock use it, and entities that it has read are not read again.
 */
final class OpenEntityManagerWarning {

	private static final Log logger = LogFactory.getLog(OpenEntityManagerWarning.class);

	/** The class is missing in applications without spring-orm. */
	private static final @Nullable Class<?> HOLDER = holder();

	private final Set<Method> warned = ConcurrentHashMap.newKeySet();

	private static @Nullable Class<?> holder() {
		try {
			return ClassUtils.forName("org.springframework.orm.jpa.EntityManagerHolder",
					OpenEntityManagerWarning.class.getClassLoader());
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return null;
		}
	}

	/**
	 * Warn, once for each method.
	 * @param method the locked method
	 * @param held whether the thread holds all that it is about to lock
	 */
	void check(Method method, BooleanSupplier held) {
		if (HOLDER == null || !isOpen(HOLDER) || held.getAsBoolean() || !this.warned.add(method)) {
			return;
		}
		logger.warn(("%s was called while an EntityManager is open: entities that it has read before the lock are not "
				+ "read again in the lock, so that changes of others are overwritten. Set spring.jpa.open-in-view=false, "
				+ "or refresh them in the method, or clear the EntityManager first")
			.formatted(ClassUtils.getQualifiedMethodName(method)));
	}

	private static boolean isOpen(Class<?> holder) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			for (Object resource : TransactionSynchronizationManager.getResourceMap().values()) {
				if (holder.isInstance(resource)) {
					return true;
				}
			}
		}
		return false;
	}

}
