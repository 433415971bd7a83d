package io.dlock.engine;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoredLock;

/**
 * Reserves locks for so long that a busy machine misses no turn, and knows the requests
 * that are queued.
 */
record PatientStore(LockStore store, String reservation, Set<String> queued,
		Set<MailboxAddress> left) implements LockStore {

	PatientStore(LockStore store, String reservation) {
		this(store, reservation, ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet());
	}

	private MailboxAddress patient(MailboxAddress address) {
		return new MailboxAddress(this.reservation + address.value().substring(4));
	}

	private AcquireCommand patient(AcquireCommand command) {
		MailboxAddress mailbox = command.mailbox();
		return (mailbox == null) ? command
				: new AcquireCommand(command.key(), command.owner(), command.lease(), command.holder(),
						command.reason(), patient(mailbox), command.queueing(), command.releasing(), command.limit());
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		AcquireResult result = this.store.acquire(patient(command));
		if (command.queueing() && result instanceof AcquireResult.Refused) {
			this.queued.add(command.owner());
		}
		return result;
	}

	/**
	 * The keys of a set are requested together, one after the other.
	 */
	@Override
	public boolean supportsBatches() {
		return true;
	}

	@Override
	public @Nullable Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
		String before = address.value().substring(0, 4);
		return this.store.openMailbox(patient(address),
				(message) -> onLockAvailable.accept(message.replace(" " + this.reservation, " " + before)));
	}

	@Override
	public void leave(String storageKey, MailboxAddress mailbox) {
		this.left.add(mailbox);
		this.store.leave(storageKey, patient(mailbox));
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		return this.store.renew(leases);
	}

	@Override
	public boolean release(String key, String owner) {
		return this.store.release(key, owner);
	}

	@Override
	public boolean supportsMembers() {
		return this.store.supportsMembers();
	}

	@Override
	public boolean supportsFairLocks() {
		return true;
	}

	@Override
	public Optional<StoredLock> find(String key) {
		return this.store.find(key);
	}

	@Override
	public void verify() {
		this.store.verify();
	}

	@Override
	public String describe() {
		return this.store.describe();
	}

	@Override
	public void close() {
		this.store.close();
	}

}
