package io.dlock.store.jdbc;

import java.lang.reflect.Proxy;
import java.util.Optional;

import org.junit.jupiter.api.Test;

import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThatNoException;

class TimePrecisionCheckTests {

	/**
	 * A proxy may let a replica answer what only reads.
	 */
	@Test
	void replicaThatIsBehindFailsNoStart() {
		MemoryLockStore primary = new MemoryLockStore();
		LockStore proxied = (LockStore) Proxy.newProxyInstance(LockStore.class.getClassLoader(),
				new Class<?>[] { LockStore.class }, (proxy, method, arguments) -> method.getName().equals("find")
						? Optional.empty() : method.invoke(primary, arguments));
		TimePrecisionCheck check = new TimePrecisionCheck(proxied, JdbcLockStoreSettings.defaults());
		assertThatNoException().isThrownBy(check::run);
	}

}
