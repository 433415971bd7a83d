package io.dlock.autoconfigure;

import java.io.IOException;
import java.util.List;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;

/**
 * An application that is stopped while its work is queued. It begins the first task and
 * ends it when it is told so.
 */
final class StoppingInstance {

	static final List<String> TASKS = List.of("a", "b", "c", "d");

	private StoppingInstance() {
	}

	public static void main(String[] args) throws IOException {
		Work work = SpringApplication.run(Application.class, args).getBean(Work.class);
		for (String task : TASKS) {
			work.run(task);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableAsync
	static class Application {

		@Bean
		Work work() {
			return new Work();
		}

	}

	static class Work {

		@Async
		@DistributedLocked(key = "'stopping/' + #task", name = "task")
		public void run(String task) throws IOException {
			System.out.println("begun " + task);
			if (task.equals(TASKS.get(0))) {
				System.in.read();
			}
			LockHandle.current().orElseThrow().assertHeld();
			System.out.println("done " + task);
		}

	}

}
