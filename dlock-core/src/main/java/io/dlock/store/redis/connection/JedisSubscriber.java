package io.dlock.store.redis.connection;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * A connection of Jedis for one subscription, which is not used after its subscription
 * has ended. Spring Data sends {@code UNSUBSCRIBE} then, on a connection that is in the
 * pool again, where a lock would take the answer for its own, or that is closed, which
 * Jedis opens again and nothing closes.
 */
final class JedisSubscriber implements InvocationHandler {

	private final RedisConnection connection;

	private volatile boolean ended;

	private JedisSubscriber(RedisConnection connection) {
		this.connection = connection;
	}

	static RedisConnectionFactory of(RedisConnectionFactory pool) {
		return proxy(RedisConnectionFactory.class,
				(proxy, method, arguments) -> method.getName().equals("getConnection")
						? proxy(RedisConnection.class, new JedisSubscriber(pool.getConnection()))
						: call(pool, method, arguments));
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
		boolean subscribes = method.getName().equals("subscribe");
		if (this.ended && !subscribes) {
			return (method.getReturnType() == boolean.class) ? false : null;
		}
		try {
			return call(this.connection, method, arguments);
		}
		finally {
			this.ended |= subscribes;
		}
	}

	private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
		return AopUtils.invokeJoinpointUsingReflection(target, method, (arguments != null) ? arguments : new Object[0]);
	}

}
