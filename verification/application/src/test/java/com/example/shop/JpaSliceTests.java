package com.example.shop;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * C11: the repositories of a slice and the services that it imports are locked as
 * docs/testing.md says: in memory, although the application has its locks in its
 * database.
 */
@DataJpaTest(properties = { "dlock.backend=jdbc", "dlock.wait-time=0s" })
@ImportAutoConfiguration(CacheAutoConfiguration.class)
@Import(StockService.class)
class JpaSliceTests {

	@Autowired
	private Products products;

	@Autowired
	private StockService stock;

	@Autowired
	private LockRegistry locks;

	@Autowired
	private LockStore store;

	@BeforeEach
	void stockUp() {
		this.products.save(new Product("book", 100));
	}

	private void whileHeld(String key, Runnable call) {
		LockHandle other = this.locks.acquireAsync(LockRequest.of(key)).join();
		try {
			call.run();
		}
		finally {
			other.release();
		}
	}

	@Test
	void c11LocksAreInMemory() {
		assertThat(this.store).isInstanceOf(MemoryLockStore.class);
	}

	@Test
	void c11ImportedServiceDoesNotRunWithoutItsLock() {
		whileHeld("stock:book", () -> assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> this.stock.sellFresh("book", 1)));
		assertThat(this.stock.attempts()).isEmpty();
		assertThat(this.stock.sell("book", 1)).isEqualTo(99);
	}

	@Test
	void c11RepositoryDoesNotRunWithoutItsLock() {
		whileHeld("catalogue", () -> assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> this.products.findByStockLessThan(101)));
		assertThat(this.products.findByStockLessThan(101)).hasSize(1);
	}

	@Test
	void lockIsKeptUntilTheTransactionOfTheTestHasEnded() {
		this.stock.sell("book", 1);
		assertThat(this.locks.find("stock:book")).isPresent();
	}

	@Test
	@Transactional(propagation = Propagation.NOT_SUPPORTED)
	void lockOfATestWithoutATransactionEndsWithTheMethod() {
		this.stock.sell("book", 1);
		assertThat(this.locks.find("stock:book")).isEmpty();
	}

}
