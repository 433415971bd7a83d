package io.dlock.aop;

import java.util.function.Supplier;

import org.springframework.context.annotation.AdviceMode;

import io.dlock.LockRegistry;

/**
 * Post-processors for tests that run twice: with proxies, and, as one of the
 * {@link WovenTests}, woven by AspectJ.
 */
public final class PostProcessors {

	/** The mode that the build sets. */
	public static final AdviceMode MODE = AdviceMode.valueOf(System.getProperty("dlock.test.aop-mode", "PROXY"));

	private PostProcessors() {
	}

	public static DistributedLockedBeanPostProcessor create(Supplier<LockRegistry> registry) {
		return create(registry, MODE);
	}

	public static DistributedLockedBeanPostProcessor create(Supplier<LockRegistry> registry, AdviceMode mode) {
		DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(registry);
		postProcessor.setProxyTargetClass(true);
		postProcessor.setMode(mode);
		return postProcessor;
	}

}
