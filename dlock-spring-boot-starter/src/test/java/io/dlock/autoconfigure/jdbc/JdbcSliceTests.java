package io.dlock.autoconfigure.jdbc;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A slice with a store, whose locks are in memory all the same: the test decides which
 * tables its database has.
 */
@JdbcTest
@Import(JdbcSliceTests.LockedService.class)
class JdbcSliceTests {

	@SpringBootConfiguration
	@EnableAutoConfiguration
	static class Application {

	}

	static class LockedService {

		@DistributedLocked("'service'")
		public List<String> locks() {
			return LockContext.all().stream().map(LockHandle::key).toList();
		}

	}

	@Autowired
	LockedService service;

	@Autowired
	LockStore store;

	@Autowired
	JdbcClient jdbc;

	@Test
	void serviceIsLockedInMemory() {
		assertThat(this.service.locks()).containsExactly("service");
		assertThat(this.store).isInstanceOf(MemoryLockStore.class);
		assertThat(this.jdbc.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = 'PUBLIC'")
			.query(String.class)
			.list()).isEmpty();
	}

}
