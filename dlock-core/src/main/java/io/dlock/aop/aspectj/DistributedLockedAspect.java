package io.dlock.aop.aspectj;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.DeclarePrecedence;
import org.aspectj.lang.annotation.Pointcut;
import org.jspecify.annotations.Nullable;

/**
 * Makes {@link io.dlock.DistributedLocked} work without a proxy, for calls within an
 * object, private, final and static methods, and objects that are no beans. It is woven
 * into the annotated methods by AspectJ, at load time (this class is named in
 * {@code META-INF/aop.xml}) or by AspectJ's compiler, and is nothing an application
 * calls.
 * <p>
 * The {@code DistributedLockedBeanPostProcessor} of the application context decides what
 * happens to a call: nothing in proxy mode. Without a context, the call fails with an
 * {@link IllegalStateException}. Of several contexts in AspectJ mode, the one that was
 * configured last provides the locks.
 * <p>
 * The lock is outside of Spring's woven transactions and caches, and inside of its woven
 * {@code @Async}. To others it has no order unless they declare one.
 *
 * @since 0.1
 */
@Aspect
@DeclarePrecedence("org.springframework.scheduling.aspectj.*, io.dlock.aop.aspectj.DistributedLockedAspect, "
		+ "org.springframework.transaction.aspectj.*, org.springframework.cache.aspectj.*")
public final class DistributedLockedAspect {

	private static final DistributedLockedAspect INSTANCE = new DistributedLockedAspect();

	private DistributedLockedAspect() {
	}

	/**
	 * Get the aspect. Woven methods call this, also those that AspectJ's compiler has
	 * woven, which does not change this class.
	 * @return the only instance
	 */
	public static DistributedLockedAspect aspectOf() {
		return INSTANCE;
	}

	/**
	 * Required of an aspect by AspectJ.
	 * @return {@code true}
	 */
	public static boolean hasAspect() {
		return true;
	}

	/**
	 * The annotation, one that carries it, such as a limit, or one that carries that.
	 */
	@Pointcut("execution(@io.dlock.DistributedLocked * *(..)) || execution(@(@io.dlock.DistributedLocked *) * *(..))"
			+ " || execution(@(@(@io.dlock.DistributedLocked *) *) * *(..))")
	void annotatedMethod() {
	}

	/**
	 * A plain {@code *} instead of {@code *..*} would match all types.
	 */
	@Pointcut("execution(public !static * ((@io.dlock.DistributedLocked *..*)+).*(..))"
			+ " || execution(public !static * ((@(@io.dlock.DistributedLocked *) *..*)+).*(..))"
			+ " || execution(public !static * ((@(@(@io.dlock.DistributedLocked *) *) *..*)+).*(..))")
	void methodOfAnnotatedType() {
	}

	@Pointcut("execution(boolean *.equals(Object)) || execution(int *.hashCode())")
	void identity() {
	}

	/**
	 * Run a call of a locked method.
	 * @param call the call
	 * @return the result of the method
	 * @throws Throwable the failure of the method
	 */
	@Around("annotatedMethod() || (methodOfAnnotatedType() && !identity())")
	public @Nullable Object lock(ProceedingJoinPoint call) throws Throwable {
		WovenInvocation invocation = new WovenInvocation(call);
		return WovenMethods.invoke(invocation, invocation.targetClass());
	}

}
