package io.dlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.IllegalTransactionStateException;

import io.dlock.console.ForcedRelease;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.transaction.CommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * {@code dlock.transaction.*}.
 */
class TransactionConfigurationTests extends AbstractTransactionConfigurationTests {

	@ParameterizedTest
	@ValueSource(strings = { "validity", "row" })
	void guardOfTheApplicationIsAskedBeforeTheCommit(String check) {
		this.runner.withPropertyValues("dlock.transaction.commit-check=" + check)
			.withBean("strict", CommitGuard.class, () -> (transaction, lock) -> {
				throw new LockLostException(lock.key(), lock.token(), "refused by the guard");
			})
			.run((context) -> {
				Work work = context.getBean(Work.class);
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.transactional(() -> {
				})).withMessageContaining("refused by the guard");
				assertThat(work.entries()).isZero();
			});
	}

	@Test
	void lockOutlastsTheTransactionAroundItByDefault() {
		this.runner.run((context) -> {
			inTransaction(context, () -> {
				context.getBean(Work.class).locked();
				assertThat(context.getBean(LockRegistry.class).find("work")).isPresent();
			});
			assertThat(context.getBean(LockRegistry.class).find("work")).isEmpty();
		});
	}

	@Test
	void methodInATransactionFailsIfConfigured() {
		this.runner.withPropertyValues("dlock.transaction.inside=fail").run((context) -> {
			inTransaction(context, () -> assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> context.getBean(Work.class).locked()));
			context.getBean(Work.class).transactional(() -> {
			});
		});
	}

	@Test
	void transactionAroundTheLockIsIgnoredIfConfigured() {
		this.runner.withPropertyValues("dlock.transaction.inside=ignore")
			.run((context) -> inTransaction(context, () -> {
				context.getBean(Work.class).locked();
				assertThat(LockHandle.current()).isEmpty();
			}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "dlock.transaction.inside=maybe", "dlock.transaction.commit-check=column" })
	void unknownValueIsAnError(String property) {
		this.runner.withPropertyValues(property)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(property.substring(property.indexOf('=') + 1)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "validity", "off" })
	void withoutTheRowTheDatabaseIsNotAskedBeforeTheCommit(String check) {
		this.runner.withPropertyValues("dlock.transaction.commit-check=" + check).run((context) -> {
			Work work = context.getBean(Work.class);
			work.transactional(this::takeAway);
			assertThat(work.entries()).isOne();
		});
	}

	/**
	 * The holder knows of the loss.
	 */
	@ParameterizedTest
	@CsvSource({ "validity, 0", "off, 1" })
	void lostLockRollsBackUnlessNothingIsChecked(String check, int entries) {
		this.runner.withPropertyValues("dlock.transaction.commit-check=" + check).run((context) -> {
			Work work = context.getBean(Work.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.transactional(() -> {
				LockHandle held = LockHandle.current().orElseThrow();
				assertThat(context.getBean(LeaseLockRegistry.class).console().forceRelease("work", held.token()))
					.isEqualTo(ForcedRelease.RELEASED);
			}));
			assertThat(work.entries()).isEqualTo(entries);
		});
	}

	@Test
	void eachGuardOfTheApplicationIsAskedBeforeTheCommit() {
		List<String> asked = new ArrayList<>();
		this.runner.withBean("first", CommitGuard.class, () -> (transaction, lock) -> asked.add("first"))
			.withBean("second", CommitGuard.class, () -> (transaction, lock) -> asked.add("second"))
			.run((context) -> context.getBean(Work.class).transactional(() -> {
			}));
		assertThat(asked).containsExactlyInAnyOrder("first", "second");
	}

}
