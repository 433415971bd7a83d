package io.dlock.autoconfigure;

import java.util.List;
import java.util.Locale;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

import io.dlock.LockRegistry;
import io.dlock.OnStoreFailure;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.autoconfigure.DlockProperties.Aop;
import io.dlock.autoconfigure.DlockProperties.Transaction;
import io.dlock.observation.LockObservationSettings;
import io.dlock.transaction.CommitGuard;

/**
 * Configuration of annotated methods.
 */
@Configuration(proxyBeanMethods = false)
class LockedMethodConfiguration {

	private static final Log logger = LogFactory.getLog(LockedMethodConfiguration.class);

	private static final String ASPECTJ = "org.aspectj.lang.ProceedingJoinPoint";

	/**
	 * Each context has its own, also below another context that has one: it sees the
	 * beans of its own context only. It is created before the beans of properties, and
	 * binds what it needs itself. It cannot bind durations, because the converters of the
	 * application do not exist yet.
	 */
	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockedBeanPostProcessor distributedLockedBeanPostProcessor(ObjectProvider<LockRegistry> registry,
			ObjectProvider<CommitGuard> commitGuard, ObjectProvider<LockObservationSettings> observations,
			Environment environment) {
		Binder properties = Binder.get(environment);
		Transaction transaction = properties.bindOrCreate("dlock.transaction", Transaction.class);
		Aop aop = properties.bindOrCreate("dlock.aop", Aop.class);
		CommitCheck commitCheck = transaction.commitCheck();
		DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(registry::getObject);
		postProcessor.setInsideTransaction(transaction.inside());
		postProcessor.setCommitCheck(commitCheck != CommitCheck.OFF);
		if (commitCheck != CommitCheck.OFF) {
			postProcessor.setCommitGuard(SingletonSupplier.of(() -> guard(commitGuard))::obtain);
		}
		postProcessor
			.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
		postProcessor.setMode(checked(aop.mode()));
		DlockConfigurationErrors.analyzed(() -> postProcessor.setAdviceOrder(aop.order()));
		postProcessor.setOnStoreFailure(
				checked(properties.bind("dlock.on-store-failure", OnStoreFailure.class).orElse(OnStoreFailure.THROW)));
		postProcessor.setObservations(observations::getObject);
		postProcessor.setMdc(properties.bind("dlock.mdc", Boolean.class).orElse(true));
		return postProcessor;
	}

	/**
	 * The guard of the row, or those of the application.
	 */
	private static CommitGuard guard(ObjectProvider<CommitGuard> beans) {
		List<CommitGuard> guards = beans.orderedStream().toList();
		return (guards.size() == 1) ? guards.get(0) : new CommitGuards(guards);
	}

	private static AdviceMode checked(AdviceMode mode) {
		if (mode == AdviceMode.ASPECTJ && !ClassUtils.isPresent(ASPECTJ, null)) {
			throw new FailureAnalyzedException(
					"The property dlock.aop.mode is 'aspectj', but AspectJ is not on the class path.",
					"Start the JVM with -javaagent:aspectjweaver.jar, which weaves the annotated methods, or set dlock.aop.mode=proxy.");
		}
		return mode;
	}

	private static OnStoreFailure checked(OnStoreFailure onStoreFailure) {
		if (onStoreFailure == OnStoreFailure.PROCEED) {
			logger.warn("dlock.on-store-failure is 'proceed': while the lock store fails, "
					+ "@DistributedLocked methods run without their locks unless they say otherwise");
		}
		else if (onStoreFailure != OnStoreFailure.THROW) {
			throw new FailureAnalyzedException(
					"The property dlock.on-store-failure is '%s'."
						.formatted(onStoreFailure.name().toLowerCase(Locale.ROOT)),
					"Use throw or proceed. A fallback is chosen by the method that names it: onStoreFailure = FALLBACK.");
		}
		return onStoreFailure;
	}

}
