package io.dlock.autoconfigure;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.LockRegistry;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.JavaProcess;
import io.dlock.test.RedisServer;

/**
 * C6: an application in a process of its own that is told to stop.
 */
class StoppedInstanceIntegrationTests {

	@Test
	void c6QueuedWorkGetsItsLocksAndLeavesNone() throws Exception {
		RedisServer redis = RedisServer.shared();
		String host = "spring.data.redis.host=" + redis.host();
		String port = "spring.data.redis.port=" + redis.port();
		try (JavaProcess instance = JavaProcess.start(StoppingInstance.class, "--" + host, "--" + port,
				"--dlock.backend=redis", "--dlock.command-timeout=5s", "--spring.task.execution.pool.core-size=1",
				"--spring.task.execution.shutdown.await-termination=true",
				"--spring.task.execution.shutdown.await-termination-period=60s")) {
			instance.await("begun a");
			instance.signal("TERM");
			instance.say("go on");
			for (String task : StoppingInstance.TASKS) {
				instance.await("done " + task);
			}
			new ApplicationContextRunner()
				.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, DlockAutoConfiguration.class,
						DlockRedisAutoConfiguration.class))
				.withPropertyValues(host, port, "dlock.command-timeout=5s")
				.run((context) -> {
					LockRegistry registry = context.getBean(LockRegistry.class);
					Awaitility.await()
						.until(() -> StoppingInstance.TASKS.stream()
							.allMatch((task) -> registry.find("stopping/" + task).isEmpty()));
				});
		}
	}

}
