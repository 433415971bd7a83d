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
record AdviceModeCheck(Supplier<AdviceMode> mode) implements MethodCheck {

	private static final MethodCheck PROXY = new ProxyMethodCheck();

	private static final MethodCheck WOVEN = new AspectJMethodCheck();

	@Override
	public void check(Method method, Class<?> targetClass) {
		boolean advisable = Proxy.isProxyClass(targetClass) && Advised.class.isAssignableFrom(targetClass);
		((this.mode.get() == AdviceMode.ASPECTJ && !advisable) ? WOVEN : PROXY).check(method, targetClass);
	}

}
