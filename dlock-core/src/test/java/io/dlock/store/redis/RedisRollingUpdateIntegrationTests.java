package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.StorageKey;
import io.dlock.store.redis.connection.RedisAnswers;
import io.dlock.store.redis.connection.RedisLockScript;
import io.dlock.store.redis.connection.ScriptConnection;
import io.dlock.store.redis.connection.SpringScriptConnection;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes of the version before members run beside those of today during a rolling
 * update.
 */
class RedisRollingUpdateIntegrationTests extends AbstractRedisMemberTests {

	@Test
	void earlierVersionSeesAnotherOwner() {
		granted("+a", LEASE);
		long token = granted("+b", LEASE);
		Map<String, String> before = record();
		assertThat(earlier(ScriptsWithoutMembers.ACQUIRE, text(KEYS.fence()), "x", "60000", "holder", "")).isZero();
		for (String owner : List.of("+a", "x")) {
			assertThat(earlier(ScriptsWithoutMembers.RENEW, owner, "600000")).isZero();
			assertThat(earlier(ScriptsWithoutMembers.RELEASE, owner)).isZero();
			assertThat(earlier(ScriptsWithoutMembers.KEEP, owner, "1")).isZero();
		}
		assertThat(earlier(ScriptsWithoutMembers.FORCE_RELEASE, Long.toString(token))).isZero();
		assertThat(earlier(ScriptsWithoutMembers.LEAVE, this.first.value())).isZero();
		assertThat(record()).isEqualTo(before);
		assertThat(expiry()).isLessThanOrEqualTo(LEASE.toMillis());
	}

	@Test
	void earlierVersionQueuesBesideMembers() {
		granted("+a", LEASE);
		assertThat(earlier(ScriptsWithoutMembers.ACQUIRE, text(KEYS.fence()), "x", "60000", "holder", "",
				this.first.value(), "", "1"))
			.isZero();
		assertThat(ask("+b", LEASE, UNLIMITED, this.second)).isInstanceOf(Refused.class);
		assertThat(this.store.release(KEY, "+a")).isTrue();
		assertThat(earlier(ScriptsWithoutMembers.ACQUIRE, text(KEYS.fence()), "x", "60000", "holder", "",
				this.first.value(), "", "1"))
			.isEqualTo(1);
		assertThat(earlier(ScriptsWithoutMembers.RELEASE, "x")).isEqualTo(1);
		assertThat(ask("y", LEASE, 1, null)).as("reserved").isInstanceOf(Refused.class);
		granted(ask("+b", LEASE, UNLIMITED, this.second));
		this.store.leave(StorageKey.of(KEY), this.second);
		assertThat(record()).containsOnlyKeys("owner", "waiting", "holder", "+b");
	}

	private long earlierAcquire(String owner, String mailbox) {
		return earlier(ScriptsWithoutMembers.ACQUIRE, text(KEYS.fence()), owner, "60000", "holder", "", mailbox, "",
				"1");
	}

	private Duration remaining() {
		return ((Refused) ask("y", LEASE, 1, null)).remaining();
	}

	@Test
	void leaseOfAnEarlierVersionEndsWithItsKey() {
		assertThat(earlierAcquire("x", "")).isEqualTo(1);
		assertThat(ask("b", LEASE, 1, this.first)).isInstanceOf(Refused.class);
		assertThat(ask("+c", LEASE, UNLIMITED, this.second)).isInstanceOf(Refused.class);
		assertThat(expiry()).isLessThanOrEqualTo(LEASE.toMillis());
		assertThat(earlier(ScriptsWithoutMembers.RENEW, "x", "120000")).isEqualTo(1);
		assertThat(remaining().toMillis()).isGreaterThanOrEqualTo(expiry());
	}

	@Test
	void earlierVersionTakesAReservationThatItsKeyOutlives() {
		granted(ask("a", LEASE, 1, null));
		assertThat(earlierAcquire("x", this.first.value())).isZero();
		assertThat(ask("b", LEASE, 1, this.second)).isInstanceOf(Refused.class);
		assertThat(this.store.release(KEY, "a")).isTrue();
		assertThat(record()).containsEntry("outlived", this.first.reservationOwner());
		assertThat(earlierAcquire("x", this.first.value())).isEqualTo(1);
		assertThat(remaining().toMillis()).isGreaterThanOrEqualTo(expiry());
		assertThat(earlier(ScriptsWithoutMembers.RELEASE, "x")).isEqualTo(1);
		granted(ask("b", LEASE, 1, this.second));
	}

	/**
	 * Run a script of an earlier version.
	 * @return the first number of its answer
	 */
	private long earlier(RedisLockScript script, String... arguments) {
		byte[][] keysAndArguments = new byte[arguments.length + 1][];
		keysAndArguments[0] = KEYS.lock();
		for (int i = 0; i < arguments.length; i++) {
			keysAndArguments[i + 1] = arguments[i].getBytes(StandardCharsets.UTF_8);
		}
		return onServer((connection) -> {
			ScriptConnection scripts = new SpringScriptConnection(connection);
			return (script == ScriptsWithoutMembers.ACQUIRE)
					? RedisAnswers.number(script.list(scripts, keysAndArguments).get(0))
					: script.number(scripts, keysAndArguments);
		});
	}

}
