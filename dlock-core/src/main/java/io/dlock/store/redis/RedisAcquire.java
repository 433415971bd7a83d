package io.dlock.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.StoredLock;
import io.dlock.store.redis.connection.RedisAnswers;
import io.dlock.store.redis.connection.RedisErrors;
import io.dlock.store.redis.connection.RedisLockScript;
import io.dlock.store.redis.connection.ScriptConnection;
import io.dlock.store.redis.connection.ScriptRun;

/**
 * The script of an acquire, and its answer.
 *
 * @param prefix the prefix of all names
 * @param command the command
 * @param leastToken the least token of an exclusive lock that is new, or 0
 * @param quarantine looks at the history of the server first, or {@code null}
 */
record RedisAcquire(String prefix, AcquireCommand command, long leastToken, @Nullable RedisQuarantine quarantine) {

	List<?> run(ScriptConnection connection) {
		return script().list(connection, arguments());
	}

	ScriptRun scriptRun() {
		return script().list(arguments());
	}

	private RedisLockScript script() {
		return (this.quarantine != null) ? this.quarantine.guarded(plainScript()) : plainScript();
	}

	private RedisLockScript plainScript() {
		if (LockStore.isMember(this.command.owner())) {
			return RedisMemberScripts.ACQUIRE;
		}
		String releasing = this.command.releasing();
		return (releasing != null && LockStore.isMember(releasing)) ? RedisMemberScripts.EXCHANGE
				: RedisLockScripts.ACQUIRE;
	}

	/**
	 * Arguments that only a waiting process needs are left out: a server that asks for a
	 * password takes no more than ten arguments before it has one, and fails with a
	 * confusing message.
	 */
	private byte[][] arguments() {
		RedisKeys keys = RedisKeys.of(this.prefix, this.command.key());
		MailboxAddress mailbox = this.command.mailbox();
		String releasing = this.command.releasing();
		List<byte[]> arguments = new ArrayList<>(List.of(keys.lock(), keys.fence()));
		if (this.quarantine != null) {
			arguments.add(keys.era());
		}
		arguments
			.addAll(List.of(RedisLockScripts.owner(this.command.owner()), RedisLockScript.millis(this.command.lease()),
					RedisLockScript.bytes(this.command.holder()), RedisLockScript.bytes(this.command.reason())));
		if (LockStore.isMember(this.command.owner())) {
			arguments.add(RedisLockScript.bytes(Integer.toString(this.command.limit())));
		}
		if (mailbox != null || releasing != null || this.leastToken > 0) {
			arguments.add(RedisLockScript.bytes((mailbox != null) ? mailbox.value() : ""));
			arguments.add((releasing != null) ? RedisLockScripts.owner(releasing) : new byte[0]);
			arguments.add(RedisLockScript.bytes(this.command.queueing() ? "1" : "0"));
		}
		if (this.leastToken > 0) {
			arguments.add(RedisLockScript.bytes(Long.toString(this.leastToken)));
		}
		return arguments.toArray(byte[][]::new);
	}

	AcquireResult resultOrFailure(Object answer) {
		if (answer instanceof RuntimeException ex) {
			return new AcquireResult.Failed(
					(ex instanceof StoreException failure) ? failure : RedisErrors.translate("acquire", ex));
		}
		try {
			return result((List<?>) answer);
		}
		catch (StoreQuarantinedException ex) {
			return new AcquireResult.Failed(ex);
		}
	}

	AcquireResult result(List<?> answer) {
		if (this.quarantine != null) {
			this.quarantine.check(answer);
		}
		if (RedisAnswers.number(answer.get(0)) == 1) {
			return new AcquireResult.Granted(RedisAnswers.number(answer.get(1)),
					answer.size() > 2 && RedisAnswers.number(answer.get(2)) == 1);
		}
		Duration remaining = Duration.ofMillis(Math.max(0, RedisAnswers.number(answer.get(1))));
		return new AcquireResult.Refused(remaining, lock(remaining, answer), (int) RedisAnswers.number(answer.get(2)));
	}

	private @Nullable StoredLock lock(Duration remaining, List<?> answer) {
		if (answer.size() < 8 || answer.contains(null)) {
			return null;
		}
		Instant now = RedisAnswers.instant(answer.get(3));
		Instant since = RedisAnswers.instant(answer.get(6));
		boolean member = answer.size() > 8;
		Instant until = member ? RedisAnswers.instant(answer.get(8)) : now.plus(remaining);
		return new StoredLock(StorageKey.of(this.command.key()), RedisAnswers.text(answer.get(4)),
				RedisAnswers.text(answer.get(5)), since, until, RedisAnswers.number(answer.get(7)),
				Duration.between(since, now), false, member);
	}

}
