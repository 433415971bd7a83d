package io.dlock.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.Locale;

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
import io.dlock.test.JavaProcess;
import io.dlock.test.Patience;
import io.dlock.test.Pools;

/**
 * Another instance: a process that acquires a lock and holds it until it is told to
 * release it, or dies.
 */
final class HolderProcess {

	private HolderProcess() {
	}

	static JavaProcess start(String address, String key, Duration lease) throws IOException {
		return JavaProcess.start(HolderProcess.class, address, key, Long.toString(lease.toMillis()));
	}

	static LockStore store(String address, Duration commandTimeout) {
		if (address.startsWith("redis:")) {
			String[] parts = address.split(":");
			LettuceConnectionFactory factory = new LettuceConnectionFactory(parts[1], Integer.parseInt(parts[2]));
			factory.afterPropertiesSet();
			return Patience.connected(
					new RedisLockStore(factory, RedisLockStoreSettings.defaults().withCommandTimeout(commandTimeout)));
		}
		String[] parts = address.split(" ");
		return Patience.connected(new JdbcLockStore(Pools.create(parts[0], parts[1], parts[2]),
				JdbcLockStoreSettings.defaults().withCommandTimeout(commandTimeout)));
	}

	public static void main(String[] args) throws Exception {
		// a language with digits of its own
		Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
		Duration lease = Duration.ofMillis(Long.parseLong(args[2]));
		LockSettings settings = LockSettings.builder().lease(lease).commandTimeout(lease.dividedBy(4)).build();
		try (LockStore store = store(args[0], Patience.COMMAND);
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
