package io.dlock.torture.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.dlock.torture.client.Outcome.AllGranted;
import io.dlock.torture.client.Outcome.NotGranted;
import io.dlock.torture.client.Workload.Cycle;
import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;
import io.dlock.torture.resource.Reply;
import io.dlock.torture.resource.ResourceClient;
import io.dlock.torture.resource.ResourceClient.Account;

/**
 * A thread that locks some accounts at a time and moves money from the first to the
 * second of them.
 */
final class Transfers implements Runnable {

	private static final long CHECK_EVERY_NANOS = 3_000_000;

	private final ClientOptions options;

	private final int thread;

	private final Contender contender;

	private final HistoryWriter history;

	private final AtomicLong attempts;

	private final AtomicBoolean stopped;

	Transfers(ClientOptions options, int thread, Contender contender, HistoryWriter history, AtomicLong attempts,
			AtomicBoolean stopped) {
		this.options = options;
		this.thread = thread;
		this.contender = contender;
		this.history = history;
		this.attempts = attempts;
		this.stopped = stopped;
	}

	@Override
	public void run() {
		Workload workload = new Workload(this.options, this.thread, this.contender.abilities().renewing());
		try (ResourceClient resource = new ResourceClient(this.options.resourcePort())) {
			while (!this.stopped.get()) {
				List<Cycle> accounts = workload.nextTransfer();
				transfer(accounts, workload.nextAmount(), workload.isTogether(), resource);
				LockSupport.parkNanos(accounts.get(0).think().toNanos());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void transfer(List<Cycle> accounts, long amount, boolean together, ResourceClient resource) {
		List<AttemptLog> logs = accounts.stream().map(this::log).toList();
		logs.forEach(AttemptLog::invoke);
		Outcome outcome = this.contender.acquireAll(accounts.stream().map(Cycle::call).toList());
		if (outcome instanceof AllGranted granted) {
			List<Held> locks = new ArrayList<>();
			for (int i = 0; i < logs.size(); i++) {
				logs.get(i).granted(granted.holdings().get(i));
				locks.add(new Held(granted.holdings().get(i), logs.get(i)));
			}
			locks.forEach(Held::begin);
			move(locks, accounts.get(0), amount, resource);
			if (together) {
				end(locks, granted);
			}
			else {
				locks.forEach(Held::end);
			}
		}
		else if (outcome instanceof NotGranted failed) {
			logs.forEach((log) -> log.now(failed.event()));
		}
	}

	private static void end(List<Held> locks, AllGranted granted) {
		locks.forEach((lock) -> lock.log().now(Event.BODY_END));
		locks.forEach((lock) -> lock.log().now(Event.RELEASE_SENT));
		List<Event> released = granted.together().get();
		for (int i = 0; i < locks.size(); i++) {
			locks.get(i).log().now(released.get(i));
		}
	}

	private AttemptLog log(Cycle account) {
		Origin origin = new Origin(this.options.client(), this.thread, this.attempts.incrementAndGet(), account.key());
		return new AttemptLog(this.history, origin, account.call());
	}

	private static void move(List<Held> locks, Cycle cycle, long amount, ResourceClient resource) {
		Held from = locks.get(0);
		Held to = locks.get(1);
		Reply fromBalance = from.read(resource);
		Reply toBalance = to.read(resource);
		long end = System.nanoTime() + cycle.body().toNanos();
		boolean valid = areValid(locks);
		while (valid && System.nanoTime() < end) {
			LockSupport.parkNanos(Math.min(CHECK_EVERY_NANOS, end - System.nanoTime()));
			valid = areValid(locks);
		}
		if (valid && fromBalance.accepted() && toBalance.accepted()) {
			Reply moved = resource.transfer(from.account(fromBalance), to.account(toBalance), amount);
			if (!moved.accepted()) {
				from.log().write(Event.FENCED_REJECTED, from.holding().token(), moved.value(), moved.highest());
			}
			areValid(locks);
		}
	}

	private static boolean areValid(List<Held> locks) {
		boolean valid = true;
		for (Held lock : locks) {
			valid &= lock.log().check(lock.holding());
		}
		return valid;
	}

	/**
	 * One of the locks.
	 *
	 * @param holding the lock
	 * @param log the log of its attempt
	 */
	private record Held(Holding holding, AttemptLog log) {

		void begin() {
			this.log.check(this.holding);
			this.holding.onLost(() -> this.log.now(Event.LOST));
			this.log.now(Event.BODY_START);
		}

		Reply read(ResourceClient resource) {
			Reply reply = resource.readFenced(this.log.origin(), this.holding.token());
			this.log.write(reply.accepted() ? Event.FENCED_READ : Event.FENCED_REJECTED, this.holding.token(),
					reply.value(), reply.highest());
			return reply;
		}

		Account account(Reply read) {
			return new Account(this.log.origin(), this.holding.token(), read.value());
		}

		void end() {
			this.log.now(Event.BODY_END);
			this.log.now(Event.RELEASE_SENT);
			this.log.now(this.holding.release());
		}

	}

}
