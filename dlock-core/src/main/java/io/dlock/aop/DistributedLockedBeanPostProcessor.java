package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.EmbeddedValueResolverAware;
import org.springframework.util.StringValueResolver;
import org.springframework.util.function.SingletonSupplier;

import io.dlock.LockRegistry;
import io.dlock.OnStoreFailure;

/**
 * Makes {@link io.dlock.DistributedLocked} work: checks the annotated methods of every
 * bean when it is created, and wraps the bean so that they run under their lock.
 * <p>
 * The lock is the outermost advice of what wraps the bean before, transactions above all,
 * and is inside of what wraps it afterwards, {@code @Async} and {@code @Retryable}: it is
 * released after the commit, taken by the thread that does the work, and taken anew for
 * each attempt.
 *
 * @since 0.1
 */
public final class DistributedLockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements EmbeddedValueResolverAware, SmartInitializingSingleton {

	/**
	 * Before the post-processors of {@code @Async} ({@code LOWEST_PRECEDENCE}) and
	 * {@code @Retryable} ({@code LOWEST_PRECEDENCE - 1}), which come to lie outside.
	 */
	public static final int ORDER = LOWEST_PRECEDENCE - 2;

	private final transient Supplier<LockRegistry> registry;

	private OnStoreFailure onStoreFailure = OnStoreFailure.THROW;

	private transient LockedOperations operations;

	private volatile boolean mdc = true;

	private InsideTransaction insideTransaction = InsideTransaction.DEFER;

	private boolean commitCheck = true;

	private transient @Nullable Supplier<? extends CommitGuard> commitGuard;

	private final transient Supplier<LockedTransactions> transactions = SingletonSupplier.of(this::transactions);

	private transient @Nullable ListableBeanFactory beans;

	/**
	 * Create the post-processor.
	 * @param registry the registry, asked for when the first annotated bean is created
	 */
	public DistributedLockedBeanPostProcessor(Supplier<LockRegistry> registry) {
		this.registry = SingletonSupplier.of(registry);
		setBeforeExistingAdvisors(true);
		setOrder(ORDER);
		this.operations = useValues((value) -> value);
	}

	/**
	 * Set whether what is logged by a locked method shows its lock, by the entries
	 * {@code dlock.token} (the fencing token) and {@code dlock.reason} (the reason, by
	 * default the method) of SLF4J's {@code MDC}. In nested methods they are those of the
	 * inner one, and afterwards those of the outer one again. The key is not shown,
	 * because it may be personal. Without SLF4J there is no effect.
	 * @param mdc {@code false} to leave the {@code MDC} alone, {@code true} by default
	 */
	public void setMdc(boolean mdc) {
		this.mdc = mdc;
	}

	/**
	 * Set what a locked method does when a transaction runs already.
	 * {@link InsideTransaction#DEFER} is the default.
	 * @param insideTransaction what it does
	 */
	public void setInsideTransaction(InsideTransaction insideTransaction) {
		this.insideTransaction = insideTransaction;
	}

	/**
	 * Set whether a transaction is rolled back instead of committed if its thread has
	 * lost a lock that it holds, which is so by default. It works for all
	 * {@code PlatformTransactionManager} beans that accept listeners, as those of Spring
	 * do.
	 * @param commitCheck whether to check
	 */
	public void setCommitCheck(boolean commitCheck) {
		this.commitCheck = commitCheck;
	}

	/**
	 * Set what else must hold before such a transaction commits. Nothing else by default.
	 * @param commitGuard asked for when the application has started
	 */
	public void setCommitGuard(Supplier<? extends CommitGuard> commitGuard) {
		this.commitGuard = SingletonSupplier.of(commitGuard);
	}

	private LockedTransactions transactions() {
		if (!LockedTransactions.POSSIBLE) {
			return LockedTransactions.NONE;
		}
		return new SpringTransactions(this.insideTransaction,
				this.commitCheck ? new CommitListener(this.commitGuard) : null);
	}

	@Override
	public void setEmbeddedValueResolver(StringValueResolver resolver) {
		this.operations = useValues(resolver);
	}

	/**
	 * Set what methods do that leave it to the configuration when the store fails.
	 * @param onStoreFailure {@link OnStoreFailure#THROW}, which is the default, or
	 * {@link OnStoreFailure#PROCEED}
	 * @throws IllegalArgumentException if it is neither: a fallback is named by a method
	 */
	public void setOnStoreFailure(OnStoreFailure onStoreFailure) {
		if (onStoreFailure != OnStoreFailure.THROW && onStoreFailure != OnStoreFailure.PROCEED) {
			throw new IllegalArgumentException(
					"The default for store failures must be THROW or PROCEED but is " + onStoreFailure);
		}
		this.onStoreFailure = onStoreFailure;
	}

	private LockedOperations useValues(StringValueResolver values) {
		LockedOperations created = new LockedOperations(new LockedOperationParser(values, () -> this.onStoreFailure),
				this.registry);
		this.advisor = new DefaultPointcutAdvisor(new LockedMethods(),
				new DistributedLockedInterceptor(created, this.registry, this.transactions, () -> this.mdc));
		return created;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		this.beans = (beanFactory instanceof ListableBeanFactory listable) ? listable : null;
	}

	/**
	 * Transaction managers that were created before this, or belong to a parent context.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		if (this.beans != null) {
			this.transactions.get().checkCommitsIn(this.beans, this.operations.hasReactive());
		}
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		if (LockedOperations.isCandidate(targetClass)) {
			this.operations.check(targetClass);
		}
		this.transactions.get().checkCommitsOf(bean);
		return super.postProcessAfterInitialization(bean, beanName);
	}

	/**
	 * The pointcut.
	 */
	private static final class LockedMethods extends StaticMethodMatcherPointcut {

		LockedMethods() {
			setClassFilter(LockedOperations::isCandidate);
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return LockedOperations.isLocked(method, targetClass);
		}

	}

}
