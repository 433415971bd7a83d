package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.context.ApplicationListener;
import org.springframework.context.EmbeddedValueResolverAware;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.util.StringValueResolver;
import org.springframework.util.function.SingletonSupplier;

import io.dlock.LockRegistry;
import io.dlock.OnStoreFailure;
import io.dlock.aop.aspectj.WovenMethods;
import io.dlock.aop.call.LockedMethodExecutor;
import io.dlock.aop.call.LockedMethodInvoker;
import io.dlock.aop.key.KeyValueFormatter;
import io.dlock.aop.key.LockKeyConverters;
import io.dlock.observation.CallObservationFactory;
import io.dlock.observation.LockObservationSettings;
import io.dlock.transaction.CommitGuard;
import io.dlock.transaction.InsideTransaction;
import io.dlock.transaction.TransactionIntegration;
import io.dlock.transaction.TransactionIntegrationFactory;

/**
 * Applies {@link io.dlock.DistributedLocked}: checks the annotated methods of every bean
 * when it is created, and wraps the bean so that they run under their lock.
 * <p>
 * The lock has an order among the advisors of the bean, {@link #setAdviceOrder}: advisors
 * with a lower order, such as security, run outside the lock, and advisors without an
 * order, such as caches, run inside. Transactions always run inside: they end before the
 * lock is released. {@code @Async} and {@code @Retryable} always run outside: the thread
 * that does the work acquires the lock, once for each attempt.
 * <p>
 * It sees the beans of its own context. Each context of a hierarchy needs one; the start
 * of a context fails if there are locked beans above or below it that have none.
 *
 * @since 0.1
 */
public final class DistributedLockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements EmbeddedValueResolverAware, InitializingBean, SmartInitializingSingleton, DisposableBean,
		ApplicationListener<ContextRefreshedEvent> {

	/**
	 * Before the post-processors of {@code @Async} ({@code LOWEST_PRECEDENCE}) and
	 * {@code @Retryable} ({@code LOWEST_PRECEDENCE - 1}), which run outside.
	 */
	public static final int ORDER = LOWEST_PRECEDENCE - 2;

	/**
	 * The order of the lock among the advisors of a bean by default: behind all that have
	 * an order of their own.
	 */
	public static final int ADVICE_ORDER = LOWEST_PRECEDENCE - 1;

	private final transient Supplier<LockRegistry> registry;

	private OnStoreFailure onStoreFailure = OnStoreFailure.THROW;

	private volatile boolean mdc = true;

	private InsideTransaction insideTransaction = InsideTransaction.DEFER;

	private boolean commitCheck = true;

	private transient @Nullable Supplier<? extends CommitGuard> commitGuard;

	private transient Supplier<LockObservationSettings> observations = () -> LockObservationSettings.NONE;

	private final transient Supplier<TransactionIntegration> transactions = SingletonSupplier
		.of(() -> TransactionIntegrationFactory.create(this.insideTransaction, this.commitCheck, this.commitGuard,
				LockedMethodExecutor::executeOrRun));

	private final transient KeyValueFormatter texts = new KeyValueFormatter(
			() -> LockKeyConverters.in(this.beanFactory));

	private final transient ProxyWarnings warnings = new ProxyWarnings();

	private AdviceMode mode = AdviceMode.PROXY;

	private int adviceOrder = ADVICE_ORDER;

	private final transient LockAdvisorPlacement place = new LockAdvisorPlacement(() -> this.adviceOrder,
			this.transactions);

	private final transient Set<String> lockedBeans = ConcurrentHashMap.newKeySet();

	private transient DistributedLockedInterceptor interceptor;

	private transient WovenMethods.@Nullable Context wovenMethods;

	/**
	 * Create the post-processor.
	 * @param registry the registry of the methods that name none, asked for when the
	 * first annotated bean is created
	 */
	public DistributedLockedBeanPostProcessor(Supplier<LockRegistry> registry) {
		this.registry = SingletonSupplier.of(registry);
		setOrder(ORDER);
		this.interceptor = useValues((value) -> value);
	}

	/**
	 * Set whether the log of a locked method shows its lock, by the entries
	 * {@code dlock.token} (the fencing token) and {@code dlock.reason} (the reason, by
	 * default the method) of SLF4J's {@code MDC}. The log of a nested method shows the
	 * inner lock. The key is not shown, because it may be personal.
	 * @param mdc {@code false} to leave the {@code MDC} alone, {@code true} by default
	 */
	public void setMdc(boolean mdc) {
		this.mdc = mdc;
	}

	/**
	 * Set the rule for a locked method that is called inside a running transaction.
	 * {@link InsideTransaction#DEFER} is the default.
	 * @param insideTransaction the rule
	 */
	public void setInsideTransaction(InsideTransaction insideTransaction) {
		this.insideTransaction = insideTransaction;
	}

	/**
	 * Set whether a transaction whose thread has lost a lock is rolled back instead of
	 * committed. Enabled by default. It works for all {@code PlatformTransactionManager}
	 * beans that accept listeners.
	 * @param commitCheck whether to check
	 */
	public void setCommitCheck(boolean commitCheck) {
		this.commitCheck = commitCheck;
	}

	/**
	 * Set an additional check before the commit. None by default.
	 * @param commitGuard asked for when the application has started
	 */
	public void setCommitGuard(Supplier<? extends CommitGuard> commitGuard) {
		this.commitGuard = SingletonSupplier.of(commitGuard);
	}

	/**
	 * Set how calls of locked methods are observed. Disabled by default.
	 * @param observations asked for at the first call
	 */
	public void setObservations(Supplier<LockObservationSettings> observations) {
		this.observations = observations;
	}

	@Override
	public void setEmbeddedValueResolver(StringValueResolver resolver) {
		this.interceptor = useValues(resolver);
	}

	/**
	 * Set the reaction to a store failure for methods that do not choose one themselves.
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

	/**
	 * Set how calls of locked methods are intercepted. With {@link AdviceMode#PROXY}, the
	 * default, calls through the proxy of a bean are locked. With
	 * {@link AdviceMode#ASPECTJ} all calls are locked by the
	 * {@code DistributedLockedAspect}, which has to be woven into the methods. A bean
	 * without it is refused.
	 * @param mode the mode
	 */
	public void setMode(AdviceMode mode) {
		this.mode = mode;
	}

	/**
	 * Set the order of the lock among the advisors of a bean, as {@code @Order} means it:
	 * the lower, the further outside. An advisor of the same order is outside. Security
	 * has orders from 100 to 600, an advisor without an order has the lowest precedence.
	 * The lock is outside of transactions whatever the order.
	 * @param adviceOrder the order, {@value #ADVICE_ORDER} by default
	 * @throws IllegalArgumentException if it is {@link #LOWEST_PRECEDENCE}, the order of
	 * advisors that have none
	 */
	public void setAdviceOrder(int adviceOrder) {
		if (adviceOrder == LOWEST_PRECEDENCE) {
			throw new IllegalArgumentException("dlock.aop.order must be lower than " + LOWEST_PRECEDENCE
					+ ", the order of advisors that have none");
		}
		this.adviceOrder = adviceOrder;
	}

	/**
	 * Return the beans of the context that have locked methods and were created. The
	 * registry has to outlive them.
	 * @return their names
	 */
	public Set<String> lockedBeans() {
		return Set.copyOf(this.lockedBeans);
	}

	private DistributedLockedInterceptor useValues(StringValueResolver values) {
		LockedOperationParser parser = new LockedOperationParser(values, () -> this.onStoreFailure,
				new AdviceModeCheck(() -> this.mode), new NamedRegistries(this.registry, () -> this.beanFactory),
				new CallObservationFactory(() -> this.observations.get()), this.texts);
		DistributedLockedInterceptor created = new DistributedLockedInterceptor(new LockedOperations(parser),
				new LockedMethodInvoker(this.registry, this.transactions, () -> this.mdc));
		this.advisor = this.place.advisor(new LockedMethodPointcut(), created);
		return created;
	}

	@Override
	public void afterPropertiesSet() {
		this.wovenMethods = WovenMethods.configure((this.mode == AdviceMode.ASPECTJ) ? this.interceptor::invoke : null);
	}

	@Override
	public void destroy() {
		this.transactions.get().close();
		if (this.wovenMethods != null) {
			this.wovenMethods.close();
		}
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		unprocessed().checkChild(event.getApplicationContext(), this.beanFactory);
	}

	/**
	 * Beans that were created before this post-processor or belong to a parent context.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		if (this.beanFactory != null) {
			this.transactions.get().listenToAll(this.beanFactory, this.interceptor.hasReactive());
		}
		unprocessed().check(this.beanFactory);
	}

	private UnprocessedBeanChecker unprocessed() {
		return new UnprocessedBeanChecker(getClass(), this.interceptor, this.mode);
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		Class<?> type = AopUtils.getTargetClass(bean);
		List<Method> locked = this.interceptor.check(type);
		if (this.mode == AdviceMode.PROXY && !locked.isEmpty() && this.beanFactory != null
				&& this.beanFactory.containsBeanDefinition(beanName)
				&& this.beanFactory.getMergedBeanDefinition(beanName) instanceof AbstractBeanDefinition definition) {
			ProxyMethodCheck.checkLifecycle(locked, definition, type);
		}
		return bean;
	}

	/**
	 * A bean of a cycle is injected before it has its proxy.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		List<Method> locked = this.interceptor.check(AopUtils.getTargetClass(bean));
		if (this.mode == AdviceMode.PROXY && !locked.isEmpty()) {
			throw new InvalidLockedMethodException(locked.get(0),
					"would not be locked: bean '%s' is in a cycle of beans, and another one gets it before it has its proxy"
						.formatted(beanName),
					"Break the cycle, such as by @Lazy on one of its injection points", null);
		}
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		List<Method> locked = this.interceptor.check(AopUtils.getTargetClass(bean));
		this.transactions.get().listenTo(bean);
		Object advised = needsAdvice(bean, locked) ? advise(bean, beanName) : bean;
		JdkProxies.advise(bean, locked, this.interceptor, this.place);
		if ((!locked.isEmpty() || ContextHierarchyCheck.isLocked(bean)) && this.beanFactory != null
				&& this.beanFactory.containsBeanDefinition(beanName)) {
			this.lockedBeans.add(beanName);
		}
		if (this.mode == AdviceMode.PROXY && !locked.isEmpty()) {
			ProxyMethodCheck.checkOverridable(locked, advised.getClass(), AopUtils.getTargetClass(bean));
			this.warnings.proxied(advised, beanName, locked);
		}
		return advised;
	}

	private Object advise(Object bean, String beanName) {
		if (bean instanceof Advised proxy && !proxy.isFrozen() && !(bean instanceof AopInfrastructureBean)
				&& isEligible(AopUtils.getTargetClass(bean))) {
			this.place.add(proxy, lock());
			return bean;
		}
		return super.postProcessAfterInitialization(bean, beanName);
	}

	private PointcutAdvisor lock() {
		return (PointcutAdvisor) Objects.requireNonNull(this.advisor);
	}

	/**
	 * A final class can have a proxy for its interfaces.
	 */
	@Override
	protected void customizeProxyFactory(ProxyFactory proxyFactory) {
		this.place.addValidation(proxyFactory, lock());
		Class<?> type = proxyFactory.getTargetClass();
		if (type != null && Modifier.isFinal(type.getModifiers()) && proxyFactory.isProxyTargetClass()) {
			proxyFactory.setProxyTargetClass(false);
			evaluateProxyInterfaces(type, proxyFactory);
		}
	}

	/**
	 * In AspectJ mode no proxy is made, but the lock is added to one that exists, outside
	 * of its transactions. A proxy that is a bean by two names is advised once.
	 */
	private boolean needsAdvice(Object bean, List<Method> locked) {
		return (this.mode == AdviceMode.PROXY || AopUtils.isAopProxy(bean)) && !JdkProxies.isLocked(bean)
				&& !JdkProxies.locksAlone(bean, locked);
	}

}
