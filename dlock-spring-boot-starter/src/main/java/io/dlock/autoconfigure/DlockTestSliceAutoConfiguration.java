package io.dlock.autoconfigure;

import java.util.List;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionExecution;

import io.dlock.LockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.transaction.CommitGuard;

/**
 * Auto-configuration of dlock in test slices, such as {@code @WebMvcTest} and
 * {@code @DataJpaTest}: locked methods are locked there as well, and their locks are in
 * memory, whatever {@code dlock.backend} is and whether or not the slice has a store.
 * Backs off from a store or registry of the test.
 * <p>
 * The slices of Spring Boot import it. A slice of your own does so with
 * {@code @ImportAutoConfiguration({ DlockTestSliceAutoConfiguration.class,
 * DlockAutoConfiguration.class })}.
 *
 * @since 0.1
 */
@AutoConfiguration(before = DlockAutoConfiguration.class)
public final class DlockTestSliceAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean({ LockStore.class, LockRegistry.class })
	LockStore dlockMemoryStore() {
		return new MemoryLockStore();
	}

	@Bean
	TestSlice dlockTestSlice() {
		return new TestSlice();
	}

	/**
	 * Locks in memory have no rows to check before a commit.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(TransactionExecution.class)
	static class NoCommitGuardConfiguration {

		@Bean
		@ConditionalOnMissingBean
		CommitGuard dlockNoCommitGuard() {
			return new CommitGuards(List.of());
		}

	}

}
