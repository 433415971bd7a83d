package io.dlock.aop;

import java.util.Arrays;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

/**
 * The place of the lock among the advisors that a proxy has already.
 */
final class LockPlace {

	private LockPlace() {
	}

	/**
	 * Add the lock behind what has the same or a lower order, but never behind a
	 * transaction.
	 * @param proxy the proxy
	 * @param lock the lock
	 * @param transactions what knows transactions
	 */
	static void add(Advised proxy, Advisor lock, LockedTransactions transactions) {
		Advisor[] advisors = proxy.getAdvisors();
		int place = 0;
		while (place < advisors.length && !isInside(advisors[place], lock, transactions)) {
			place++;
		}
		proxy.addAdvisor(place, lock);
		if (Arrays.asList(advisors).subList(0, place).contains(ExposeInvocationInterceptor.ADVISOR)) {
			// aspects inside the lock look for it on their thread, which may be another
			proxy.addAdvisor(place + 1, ExposeInvocationInterceptor.ADVISOR);
		}
	}

	private static boolean isInside(Advisor advisor, Advisor lock, LockedTransactions transactions) {
		return AnnotationAwareOrderComparator.INSTANCE.compare(advisor, lock) > 0
				|| transactions.isTransaction(advisor.getAdvice());
	}

}
