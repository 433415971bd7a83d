package io.dlock.fencing.jdbc;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.fencing.StaleTokenException;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.DocsPage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The tokens that the guard of every database refuses, and those that it accepts.
 */
abstract class AbstractFencingTokenTests extends AbstractFencingFixture {

	@Test
	void r15StaleTokenIsRefused() {
		check(TOKEN);
		check(TOKEN + 1);
		refused(TOKEN, TOKEN + 1);
		refused(1, TOKEN + 1);
		check(TOKEN + 2);
		refused(TOKEN + 1, TOKEN + 2);
	}

	@Test
	void equalTokenIsAcceptedBecauseAHolderWritesAsOftenAsItWants() {
		check(TOKEN);
		check(TOKEN);
		this.transaction.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN);
			this.guard.check(this.resource, TOKEN);
		});
		refused(TOKEN - 1, TOKEN);
	}

	@Test
	void rollbackGivesTheFenceBack() {
		this.transaction.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN + 9);
			status.setRollbackOnly();
		});
		check(TOKEN);
		this.transaction.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN + 9);
			status.setRollbackOnly();
		});
		check(TOKEN + 1);
		refused(TOKEN, TOKEN + 1);
	}

	@Test
	void rollbackToASavepointGivesTheFenceBack() {
		TransactionTemplate nested = new TransactionTemplate(this.transaction.getTransactionManager());
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		this.transaction.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN);
			nested.executeWithoutResult((savepoint) -> {
				this.guard.check(this.resource, TOKEN + 9);
				savepoint.setRollbackOnly();
			});
		});
		check(TOKEN + 1);
	}

	@Test
	void tokenOfTheCurrentLockIsCheckedAndItsKeyIsTheResource() {
		long token = this.registry.execute(LockRequest.of(this.resource), (handle) -> {
			this.transaction.executeWithoutResult((status) -> {
				this.guard.check();
				this.guard.check("another " + this.resource);
			});
			return handle.token();
		});
		refused(token - 1, token);
		check(token + 1);
		this.registry.execute(LockRequest.of(this.resource), (handle) -> {
			check(Long.MAX_VALUE);
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check()))
				.satisfies((ex) -> assertThat(ex.token()).isEqualTo(handle.token()));
			return null;
		});
	}

	@Test
	void tokenOfTheInnermostLockIsChecked() {
		this.registry.execute(LockRequest.of("outer"),
				(outer) -> this.registry.execute(LockRequest.of("inner"), (inner) -> {
					this.transaction.executeWithoutResult((status) -> this.guard.check(this.resource));
					refused(inner.token() - 1, inner.token());
					return null;
				}));
	}

	private long checkUnder(LockRequest request) {
		return this.registry.execute(request, (handle) -> {
			this.transaction.executeWithoutResult((status) -> this.guard.check());
			return handle.token();
		});
	}

	@Test
	void readerIsRefusedAfterALaterWriterAndNoWriterAfterAReader() {
		LockRequest reading = LockRequest.builder(this.resource).mode(LockMode.SHARED).build();
		long reader = checkUnder(reading);
		long writer = checkUnder(LockRequest.of(this.resource));
		assertThat(writer).isGreaterThan(reader);
		refused(reader, writer);
		assertThat(checkUnder(reading)).isGreaterThan(writer);
	}

	/**
	 * Readers of one process share a token; those of several have one each.
	 */
	@Test
	void validReaderIsRefusedAfterAReaderThatCameLater() {
		LockRequest reading = LockRequest.builder(this.resource).mode(LockMode.SHARED).build();
		MemoryLockStore store = new MemoryLockStore();
		try (LeaseLockRegistry one = new LeaseLockRegistry(store, LockSettings.defaults());
				LeaseLockRegistry two = new LeaseLockRegistry(store, LockSettings.defaults());
				LockHandle first = one.acquireAsync(reading).join();
				LockHandle same = one.acquireAsync(reading).join();
				LockHandle later = two.acquireAsync(reading).join()) {
			check(first.token());
			check(same.token());
			check(later.token());
			refused(first.token(), later.token());
			assertThat(first.isValid()).isTrue();
		}
	}

	@Test
	void tokenOfADowngradedLockIsChecked() {
		try (LockHandle writer = this.registry.acquire(this.resource)) {
			this.transaction.executeWithoutResult((status) -> this.guard.check());
			try (LockHandle reader = writer.downgrade()) {
				this.transaction.executeWithoutResult((status) -> this.guard.check());
				refused(writer.token(), reader.token());
			}
		}
	}

	@Test
	void fairHolderIsRefusedAfterItsSuccessors() {
		LockRequest fair = LockRequest.builder(this.resource).fair(true).build();
		long first = checkUnder(fair);
		long second = checkUnder(fair);
		long third = checkUnder(fair);
		refused(first, third);
		refused(second, third);
	}

	@Test
	void tokenOfALockWithTheKeyOfAPermitIsChecked() {
		this.registry.execute(LockRequest.of("outer"),
				(outer) -> this.registry.execute(LockRequest.of("limit:7"), (inner) -> {
					this.transaction.executeWithoutResult((status) -> this.guard.check(this.resource));
					refused(inner.token() - 1, inner.token());
					return null;
				}));
	}

	@Test
	void tokenOfAPermitIsNotChecked() {
		this.registry.execute(LockRequest.of("outer"), (outer) -> {
			try (LockHandle permit = this.registry.acquirePermit("export", 2)) {
				this.transaction.executeWithoutResult((status) -> this.guard.check(this.resource));
				refused(outer.token() - 1, outer.token());
				return null;
			}
		});
		try (LockHandle permit = this.registry.acquirePermit("export", 2)) {
			assertThatIllegalStateException()
				.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check()))
				.withMessageContaining("holds no lock");
			assertThat(permit.isValid()).isTrue();
		}
	}

	@Test
	void handleOfNoThreadIsCheckedByItsToken() throws Exception {
		try (LockHandle handle = this.registry.acquireAsync(LockRequest.of(this.resource)).get()) {
			assertThatIllegalStateException()
				.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check()));
			assertThatNoException().isThrownBy(() -> check(handle.token()));
		}
	}

	@Test
	void namesThatLookAlikeAreDifferentResources() {
		String ten = "k".repeat(10_000);
		List<String> names = List.of("a", "A", "á", "a\u0301", "a ", " a", "a\t", "a\n", "a%20",
				"a'; DROP TABLE dlock_fence; --", "a\u0000", "\uD83D\uDD12", "\uD83D", "\uDD12", "?", "{a}", "ß", "ss",
				ten, ten + " ", ten + "k");
		String prefix = this.resource;
		this.transaction.executeWithoutResult((status) -> {
			for (int i = 0; i < names.size(); i++) {
				this.guard.check(prefix + names.get(i), TOKEN + names.size() - i);
			}
		});
		for (int i = 0; i < names.size(); i++) {
			String name = prefix + names.get(i);
			long token = TOKEN + names.size() - i;
			this.transaction.executeWithoutResult((status) -> this.guard.check(name, token));
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check(name, token - 1)))
				.satisfies((ex) -> assertThat(ex.resource()).isEqualTo(name))
				.satisfies(
						(ex) -> assertThat(ex.getMessage()).hasSizeLessThan(600).doesNotContainPattern("\\p{Cntrl}"));
			assertThatIllegalStateException().isThrownBy(() -> this.guard.check(name, token))
				.satisfies(
						(ex) -> assertThat(ex.getMessage()).hasSizeLessThan(600).doesNotContainPattern("\\p{Cntrl}"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\n\t" })
	void resourceWithoutANameIsRefused(String name) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check(name, TOKEN)));
	}

	@Test
	void senselessArgumentsAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> check(0)).withMessageContaining("positive");
		assertThatIllegalArgumentException().isThrownBy(() -> check(-1));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check(null, TOKEN)));
		assertThatIllegalArgumentException().isThrownBy(() -> new FencingGuard(this.pool, "fence; DROP TABLE orders"));
	}

	@Test
	void checkOutsideAnyLockIsAnErrorThatSaysSo() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check(this.resource)))
			.withMessageContaining("no lock")
			.withMessageContaining("@DistributedLocked");
		assertThatIllegalStateException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check()));
	}

	@Test
	void missingTableIsAnErrorThatSaysWhatToDo() {
		FencingGuard elsewhere = new FencingGuard(this.pool, "missing_fence");
		assertThatIllegalStateException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> elsewhere.check(this.resource, TOKEN)))
			.withMessageContaining("missing_fence")
			.withMessageContaining("schema-")
			.withMessageContaining("initialize-schema");
	}

	@Test
	void rowsOfLongAgoCanBeToldByTheirTokens() {
		String cleanUp = DocsPage.of("fencing.md")
			.lines("DELETE FROM dlock_fence")
			.stream()
			.filter((line) -> line.contains(cleanUp()))
			.findFirst()
			.orElseThrow();
		long weekAgo = (System.currentTimeMillis() - Duration.ofDays(7).toMillis()) * 1000 * 1024;
		long minute = Duration.ofMinutes(1).toNanos() / 1000 * 1024;
		check(weekAgo + minute);
		this.jdbc.sql(cleanUp.replace(";", "")).update();
		refused(weekAgo, weekAgo + minute);
		this.transaction.executeWithoutResult((status) -> this.guard.check("old " + this.resource, weekAgo - minute));
		this.jdbc.sql(cleanUp.replace(";", "")).update();
		this.transaction.executeWithoutResult((status) -> this.guard.check("old " + this.resource, 1));
		long now = this.registry.execute(LockRequest.of(this.resource), LockHandle::token);
		assertThat(now).as("a token of now")
			.isBetween(weekAgo + 7 * 1440 * minute - minute, weekAgo + 7 * 1440 * minute + minute);
	}

}
