package io.dlock.benchmarks.startup;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/**
 * An application that uses Redis and does nothing.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration(excludeName = { "com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration",
		"com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration" })
class StartUpApplication {

}
