package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;

import org.springframework.aop.framework.Advised;
import org.springframework.context.annotation.AdviceMode;

/**
 * Checks a method for the mode of the post-processor. A proxy that takes advice locks in
 * both modes.
 *
 * @param mode the mode
 */
record ModeInterception(Supplier<AdviceMode> mode) implements Interception {

	private static final Interception PROXY = new ProxyInterception();

	private static final Interception WOVEN = new WovenInterception();

	@Override
	public void check(Method method, Class<?> targetClass) {
		boolean advisable = Proxy.isProxyClass(targetClass) && Advised.class.isAssignableFrom(targetClass);
		((this.mode.get() == AdviceMode.ASPECTJ && !advisable) ? WOVEN : PROXY).check(method, targetClass);
	}

}
