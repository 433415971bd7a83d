package io.dlock.engine;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;

/**
 * Another instance: a process that acquires a lock and holds it until it is told to
 * release it, or dies.
 */
final class HolderProcess implements AutoCloseable {

	private final Process process;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private HolderProcess(Process process) {
		this.process = process;
		Thread reader = new Thread(this::read, "holder-output");
		reader.setDaemon(true);
		reader.start();
	}

	static HolderProcess start(String address, String key, Duration lease) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx96m",
						"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
						HolderProcess.class.getName(), address, key, Long.toString(lease.toMillis())));
		return new HolderProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
	}

	private void read() {
		try (BufferedReader reader = new BufferedReader(
				new InputStreamReader(this.process.getInputStream(), StandardCharsets.UTF_8))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			this.lines.add("closed: " + ex);
		}
	}

	/**
	 * Wait for a line that begins so.
	 * @return the rest of the line
	 */
	String await(String beginning) throws InterruptedException {
		List<String> others = new ArrayList<>();
		while (true) {
			String line = this.lines.poll(40, TimeUnit.SECONDS);
			if (line == null) {
				throw new IllegalStateException("No '" + beginning + "' but " + others);
			}
			if (line.startsWith(beginning)) {
				return line.substring(beginning.length()).trim();
			}
			others.add(line);
		}
	}

	void release() throws IOException {
		this.process.getOutputStream().write("release\n".getBytes(StandardCharsets.UTF_8));
		this.process.getOutputStream().flush();
	}

	void kill() {
		this.process.destroyForcibly();
	}

	void signal(String signal) throws IOException, InterruptedException {
		new ProcessBuilder("sh", "-c", "kill -" + signal + " " + this.process.pid()).inheritIO().start().waitFor();
	}

	@Override
	public void close() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

	static LockStore store(String address, Duration commandTimeout) {
		if (address.startsWith("redis:")) {
			String[] parts = address.split(":");
			LettuceConnectionFactory factory = new LettuceConnectionFactory(parts[1], Integer.parseInt(parts[2]));
			factory.afterPropertiesSet();
			return new RedisLockStore(factory, RedisLockStoreSettings.defaults().withCommandTimeout(commandTimeout));
		}
		String[] parts = address.split(" ");
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(parts[0]);
		pool.setUsername(parts[1]);
		pool.setPassword(parts[2]);
		return new JdbcLockStore(pool, JdbcLockStoreSettings.defaults().withCommandTimeout(commandTimeout));
	}

	public static void main(String[] args) throws Exception {
		Duration lease = Duration.ofMillis(Long.parseLong(args[2]));
		LockSettings settings = LockSettings.defaults().withLease(lease);
		try (LockStore store = store(args[0], settings.commandTimeout());
				LeaseLockRegistry registry = new LeaseLockRegistry(store, settings)) {
			LockHandle handle = registry.acquire(LockRequest.builder(args[1]).waitTime(LockRequest.FOREVER).build());
			System.out.println("HELD " + handle.token());
			handle.onLost((lost) -> System.out.println("LISTENER " + lost.token()));
			System.in.read();
			System.out.println("VALID " + handle.isValid());
			try {
				handle.release();
				System.out.println("RELEASED");
			}
			catch (LockLostException ex) {
				System.out.println("LOST " + ex.token());
			}
		}
		System.exit(0);
	}

}
