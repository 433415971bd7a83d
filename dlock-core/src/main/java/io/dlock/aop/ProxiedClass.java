package io.dlock.aop;

import org.jspecify.annotations.Nullable;

/**
 * A class of proxies. Proxies of several targets may share it.
 *
 * @param proxy the class of the proxy
 * @param target the class of its target, or {@code null}
 */
record ProxiedClass(Class<?> proxy, @Nullable Class<?> target) {

}
