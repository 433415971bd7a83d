package io.dlock.test;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Started Jedis connection factories.
 */
public final class JedisFactories {

	private JedisFactories() {
	}

	/**
	 * Start a factory, as an application context does.
	 * @param factory the factory
	 * @return the same
	 */
	public static JedisConnectionFactory start(JedisConnectionFactory factory) {
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

}
