package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.MailboxAddress;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Long queues in Redis. The rules of a queue are in the contract.
 */
class RedisQueueIntegrationTests extends AbstractRedisMemberTests {

	private static final int ENTRY = MailboxAddress.LENGTH + 1;

	private void crowd(int processes, char mark) {
		StringBuilder waiting = new StringBuilder();
		for (int i = 0; i < processes; i++) {
			waiting.append("9000%012d".formatted(i)).append(mark);
		}
		onServer((connection) -> connection.hashCommands()
			.hSet(KEYS.lock(), bytes("waiting"), bytes(waiting.toString())));
	}

	private static byte[] bytes(String value) {
		return value.getBytes(StandardCharsets.UTF_8);
	}

	private String waiting() {
		return record().getOrDefault("waiting", "");
	}

	private Refused refused(String owner, @Nullable MailboxAddress mailbox) {
		return (Refused) ask(owner, LEASE, 1, mailbox);
	}

	@Test
	void queueHasTenThousandPlaces() {
		granted(ask("a", LEASE, 1, null));
		crowd(9_999, ' ');
		refused("b", this.first);
		refused("c", this.second);
		assertThat(waiting()).hasSize(10_000 * ENTRY).endsWith(this.first.value() + " ");
		assertThat(this.store.release(KEY, "a")).isTrue();
		assertThat(record()).containsEntry("owner", ">9000000000000000");
		refused("c", this.second);
		assertThat(waiting()).hasSize(10_000 * ENTRY).endsWith(this.second.value() + " ");
	}

	@Test
	void membersBehindAnotherFollowInBatches() {
		granted(ask("a", LEASE, 1, null));
		refused("+b", this.first);
		crowd(150, '+');
		onServer((connection) -> connection.hashCommands()
			.hSet(KEYS.lock(), bytes("waiting"), bytes(this.first.value() + "+" + waiting())));
		assertThat(this.store.release(KEY, "a")).isTrue();
		granted(ask("+b", LEASE, UNLIMITED, this.first));
		assertThat(waiting()).hasSize(50 * ENTRY).startsWith("9000000000000100+");
		assertThat(record()).containsKeys(">9000000000000000", ">9000000000000099");
	}

}
