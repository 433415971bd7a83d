package com.example.shop;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.Min;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.validation.beanvalidation.MethodValidationInterceptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The validation of a proxy is found when it is there, once for each method of the proxy.
 */
class ValidatedProxiesTests {

	static class Quantities {

		@DistributedLocked("'quantities'")
		int check(@Min(1) int quantity) {
			return quantity;
		}

	}

	private final AtomicInteger searches = new AtomicInteger();

	private static Quantities locked(ApplicationContext context) {
		return (Quantities) context.getBean(DistributedLockedBeanPostProcessor.class)
			.postProcessAfterInitialization(new Quantities(), "quantities");
	}

	/**
	 * Spring's post-processor comes after that of the locks.
	 */
	private Quantities validated(Quantities proxy) {
		((Advised) proxy)
			.addAdvisor(new DefaultPointcutAdvisor(new CountingPointcut(), new MethodValidationInterceptor()));
		return proxy;
	}

	@Test
	void eachProxyOfAClassHasItsOwnValidation() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class))
			.withPropertyValues("dlock.backend=memory", "dlock.wait-time=0s")
			.run((context) -> {
				Quantities plain = locked(context);
				Quantities validated = validated(locked(context));
				assertThat(plain.check(0)).isZero();
				assertThat(validated.check(1)).isOne();
				int once = this.searches.get();
				LockHandle other = context.getBean(LockRegistry.class)
					.acquireAsync(LockRequest.of("quantities"))
					.join();
				assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> plain.check(0));
				assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(() -> validated.check(0));
				assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> validated.check(1));
				other.release();
				assertThat(validated.check(1)).isOne();
				assertThat(this.searches).hasValue(once);
			});
	}

	private final class CountingPointcut extends StaticMethodMatcherPointcut {

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			ValidatedProxiesTests.this.searches.incrementAndGet();
			return true;
		}

	}

}
