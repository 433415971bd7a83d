package io.dlock.fencing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.fencing.jdbc.FencingGuard;
import io.dlock.fencing.redis.FencedValues;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.JavaProcess;
import io.dlock.test.Patience;
import io.dlock.test.Pools;

/**
 * Another instance: a process that acquires a lock, and writes when it is told to,
 * without a look at its lock. Its store and its resource are in the same server.
 */
final class FencedWriterProcess {

	private FencedWriterProcess() {
	}

	static JavaProcess start(String address, String key, Duration lease) throws IOException {
		return JavaProcess.start(FencedWriterProcess.class, address, key, Long.toString(lease.toMillis()));
	}

	/**
	 * The lock store and the fenced resource at an address.
	 *
	 * @param store the store
	 * @param write writes a value under the current lock
	 */
	record Place(LockStore store, Consumer<String> write) {

		static Place at(String address, String key, Duration commandTimeout) {
			return address.startsWith("redis:") ? redis(address.split(":"), key, commandTimeout)
					: database(address.split(" "), key, commandTimeout);
		}

		private static Place redis(String[] address, String key, Duration commandTimeout) {
			LettuceConnectionFactory factory = new LettuceConnectionFactory(address[1], Integer.parseInt(address[2]));
			factory.afterPropertiesSet();
			factory.start();
			FencedValues values = new FencedValues(factory);
			return new Place(
					Patience.connected(new RedisLockStore(factory,
							RedisLockStoreSettings.defaults().withCommandTimeout(commandTimeout))),
					(value) -> values.set(key, value));
		}

		private static Place database(String[] address, String key, Duration commandTimeout) {
			HikariDataSource pool = Pools.create(address[0], address[1], address[2]);
			FencingGuard guard = new FencingGuard(pool);
			JdbcClient jdbc = JdbcClient.create(pool);
			TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
			return new Place(
					Patience.connected(new JdbcLockStore(pool,
							JdbcLockStoreSettings.defaults().withCommandTimeout(commandTimeout))),
					(value) -> transaction.executeWithoutResult((status) -> {
						guard.check();
						jdbc.sql("UPDATE fenced_value SET content = ? WHERE id = ?").params(value, key).update();
					}));
		}

	}

	public static void main(String[] args) throws Exception {
		Duration lease = Duration.ofMillis(Long.parseLong(args[2]));
		LockSettings settings = LockSettings.builder().lease(lease).commandTimeout(lease.dividedBy(4)).build();
		Place place = Place.at(args[0], args[1], settings.commandTimeout());
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		LeaseLockRegistry registry = new LeaseLockRegistry(place.store(), settings);
		LockHandle handle = registry.acquire(LockRequest.builder(args[1]).waitTime(LockRequest.FOREVER).build());
		System.out.println("HELD " + handle.token());
		for (String value = in.readLine(); value != null && !value.isEmpty(); value = in.readLine()) {
			try {
				place.write().accept(value);
				System.out.println("WRITTEN " + value);
			}
			catch (StaleTokenException ex) {
				System.out.println("STALE " + ex.token() + " " + ex.newestToken());
			}
		}
		try {
			handle.release();
			System.out.println("RELEASED");
		}
		catch (LockLostException ex) {
			System.out.println("LOST " + ex.token());
		}
		System.exit(0);
	}

}
