package io.dlock.store.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;

/**
 * Sends the scripts of all threads to one server in batches and, behind each batch, one
 * command that waits for the acknowledgement. The server runs no other command of the
 * connection meanwhile, and scripts that come in that time are the next batch: otherwise
 * each would wait for the acknowledgements of all before it.
 */
final class LettuceBatches {

	private final StatefulConnection<byte[], byte[]> connection;

	private final WaitCommand acknowledgement;

	private final long timeout;

	private final Queue<Entry> queued = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean waiting = new AtomicBoolean();

	LettuceBatches(StatefulConnection<byte[], byte[]> connection, WaitCommand acknowledgement, long timeoutNanos) {
		this.connection = connection;
		this.acknowledgement = acknowledgement;
		this.timeout = timeoutNanos;
	}

	/**
	 * Send scripts, at once or with the next batch.
	 * @param acknowledged takes the answer of the command behind their batch
	 */
	void send(List<AsyncCommand<byte[], byte[], ?>> scripts, CompletableFuture<Object> acknowledged) {
		this.queued.add(new Entry(scripts, acknowledged));
		sendNext();
	}

	private void sendNext() {
		while (!this.queued.isEmpty() && this.waiting.compareAndSet(false, true)) {
			List<Entry> batch = new ArrayList<>();
			List<AsyncCommand<byte[], byte[], ?>> commands = new ArrayList<>();
			for (Entry entry = this.queued.poll(); entry != null; entry = this.queued.poll()) {
				batch.add(entry);
				entry.scripts().stream().filter((script) -> !script.isDone()).forEach(commands::add);
			}
			if (!commands.isEmpty()) {
				send(commands, batch);
				return;
			}
			this.waiting.set(false);
		}
	}

	/**
	 * The wait ends even if the server is silent, whatever the waiting threads do.
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // its outcome is told to the entries
	private void send(List<AsyncCommand<byte[], byte[], ?>> commands, List<Entry> batch) {
		AsyncCommand<byte[], byte[], List<Object>> wait = command();
		commands.add(wait);
		wait.orTimeout(this.timeout, TimeUnit.NANOSECONDS);
		wait.whenComplete((answer, ex) -> {
			this.waiting.set(false);
			sendNext();
			batch.forEach((entry) -> entry.complete(answer, ex));
		});
		try {
			this.connection.dispatch(commands);
		}
		catch (RuntimeException ex) {
			commands.forEach((command) -> command.completeExceptionally(ex));
		}
	}

	private AsyncCommand<byte[], byte[], List<Object>> command() {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
		this.acknowledgement.arguments().forEach(args::add);
		return new AsyncCommand<>(new Command<>(new Keyword(this.acknowledgement.name()),
				new NestedMultiOutput<>(ByteArrayCodec.INSTANCE), args));
	}

	/**
	 * Scripts of one caller.
	 *
	 * @param scripts the scripts
	 * @param acknowledged takes the answer of the command behind them
	 */
	private record Entry(List<AsyncCommand<byte[], byte[], ?>> scripts, CompletableFuture<Object> acknowledged) {

		@SuppressWarnings("NullAway") // a command without an answer has an exception
		void complete(Object answer, Throwable ex) {
			if (ex != null) {
				this.acknowledged.completeExceptionally(ex);
			}
			else {
				this.acknowledged.complete(answer);
			}
		}

	}

	/**
	 * A command that Lettuce may not know.
	 *
	 * @param text its name
	 */
	private record Keyword(String text) implements ProtocolKeyword {

		@Override
		public byte[] getBytes() {
			return RedisLockScript.bytes(this.text);
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

}
