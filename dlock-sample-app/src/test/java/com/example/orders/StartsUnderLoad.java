package com.example.orders;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.dlock.test.JavaProcess;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

/**
 * C5: starts of the application with eight busy loops beside it. Not a part of the build,
 * because it occupies the machine: {@code mvn -pl dlock-sample-app -am test
 * -Dtest=StartsUnderLoad -Dsurefire.failIfNoSpecifiedTests=false
 * -Dorders.test.starts=20}.
 */
class StartsUnderLoad {

	private static final int STARTS = Integer.getInteger("orders.test.starts", 20);

	private static final int BUSY_LOOPS = 8;

	private static final String STARTED = "started";

	@Test
	void redis() throws Exception {
		RedisServer redis = RedisServer.shared();
		startOften("--spring.profiles.active=redis", "--spring.datasource.url=jdbc:h2:mem:orders",
				"--spring.data.redis.host=" + redis.host(), "--spring.data.redis.port=" + redis.port());
	}

	@Test
	void postgres() throws Exception {
		PostgresServer postgres = PostgresServer.shared();
		startOften("--spring.profiles.active=postgres", "--spring.datasource.url=" + postgres.jdbcUrl(),
				"--spring.datasource.username=" + postgres.username(),
				"--spring.datasource.password=" + postgres.password());
	}

	private static void startOften(String... store) throws Exception {
		List<String> arguments = new ArrayList<>(Arrays.asList(store));
		arguments.addAll(List.of("--server.port=0", "--orders.report-cron=-"));
		List<Process> loops = new ArrayList<>();
		try {
			for (int i = 0; i < BUSY_LOOPS; i++) {
				loops.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
			}
			for (int i = 1; i <= STARTS; i++) {
				long begin = System.nanoTime();
				try (JavaProcess application = JavaProcess.start(Instance.class, arguments.toArray(String[]::new))) {
					awaitStart(application);
				}
				System.out.printf("%d of %d started, after %d ms%n", i, STARTS,
						Duration.ofNanos(System.nanoTime() - begin).toMillis());
			}
		}
		finally {
			loops.forEach(Process::destroyForcibly);
		}
	}

	/**
	 * A process may be silent for longer than a line is waited for.
	 */
	private static void awaitStart(JavaProcess application) throws InterruptedException {
		for (int i = 1;; i++) {
			try {
				application.await(STARTED);
				return;
			}
			catch (IllegalStateException ex) {
				if (i == 3) {
					throw ex;
				}
			}
		}
	}

	/**
	 * The application, which says that it is started whatever the level of its log.
	 */
	static final class Instance {

		private Instance() {
		}

		public static void main(String[] args) {
			OrdersApplication.main(args);
			System.out.println(STARTED);
		}

	}

}
