package io.dlock.aop;

import java.util.Arrays;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import org.aopalliance.aop.Advice;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

import io.dlock.transaction.TransactionIntegration;

/**
 * The place of the lock among the advisors that a proxy has already.
 *
 * @param order the order of the lock
 * @param transactions the transactions
 */
record LockAdvisorPlacement(IntSupplier order, Supplier<TransactionIntegration> transactions) {

	/**
	 * Create an advisor that locks.
	 * @param pointcut the methods
	 * @return the advisor, with the order of the lock
	 */
	PointcutAdvisor advisor(Pointcut pointcut, Advice lock) {
		return new DefaultPointcutAdvisor(pointcut, lock) {

			@Override
			public int getOrder() {
				return LockAdvisorPlacement.this.order.getAsInt();
			}

		};
	}

	/**
	 * Add the lock behind what has the same or a lower order, but never behind a
	 * transaction.
	 */
	void add(Advised proxy, PointcutAdvisor lock) {
		Advisor[] advisors = proxy.getAdvisors();
		int place = 0;
		while (place < advisors.length && !isInside(advisors[place], lock)) {
			place++;
		}
		proxy.addAdvisor(place, lock);
		if (Arrays.asList(advisors).subList(0, place).contains(ExposeInvocationInterceptor.ADVISOR)) {
			// aspects inside the lock may run on another thread and need the invocation
			// there
			proxy.addAdvisor(place + 1, ExposeInvocationInterceptor.ADVISOR);
		}
		addValidation(proxy, lock);
	}

	/**
	 * Let a proxy that validates arguments do so before it locks.
	 * @param lock the lock, which the proxy has
	 */
	void addValidation(Advised proxy, PointcutAdvisor lock) {
		if (ArgumentValidationInterceptor.POSSIBLE) {
			proxy.addAdvisor(proxy.indexOf(lock), advisor(lock.getPointcut(), new ArgumentValidationInterceptor()));
		}
	}

	private boolean isInside(Advisor advisor, Advisor lock) {
		return AnnotationAwareOrderComparator.INSTANCE.compare(advisor, lock) > 0
				|| this.transactions.get().isTransaction(advisor.getAdvice());
	}

}
