package io.dlock.store.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs scripts on the Lettuce connection that all threads share, bypassing Spring Data,
 * whose wrapping costs a fifth of a round trip, and whose pipelining opens a connection
 * each time.
 */
final class LettuceScriptConnection implements ScriptConnection {

	private final StatefulConnection<byte[], byte[]> shared;

	private final long timeout;

	private final LettuceNodes nodes;

	private final @Nullable Runnable onSent;

	LettuceScriptConnection(StatefulConnection<byte[], byte[]> shared, long timeoutNanos) {
		this(shared, timeoutNanos, new LettuceNodes(shared, timeoutNanos), null);
	}

	private LettuceScriptConnection(StatefulConnection<byte[], byte[]> shared, long timeoutNanos, LettuceNodes nodes,
			@Nullable Runnable onSent) {
		this.shared = shared;
		this.timeout = timeoutNanos;
		this.nodes = nodes;
		this.onSent = onSent;
	}

	LettuceScriptConnection withTimeout(long timeoutNanos) {
		return new LettuceScriptConnection(this.shared, timeoutNanos, this.nodes, null);
	}

	@Override
	public LettuceScriptConnection reporting(Runnable listener) {
		return new LettuceScriptConnection(this.shared, this.timeout, this.nodes, listener);
	}

	boolean isOpen() {
		return this.shared.isOpen();
	}

	@Override
	public @Nullable Object run(byte[] script, boolean cached, ReturnType returnType, int keys, byte[]... keysAndArgs) {
		AsyncCommand<byte[], byte[], ?> command = command(script, cached, returnType, keys, keysAndArgs);
		long deadline = System.nanoTime() + this.timeout;
		this.shared.dispatch(command);
		if (this.onSent != null) {
			this.onSent.run();
		}
		return answer(command, deadline);
	}

	/**
	 * Send a script, by its text if the server does not know it.
	 * @param receiver takes the answer or an exception
	 * @return {@code false} if it was not sent: the socket is closed some moments before
	 * the connection says so
	 */
	boolean send(ScriptRun run, Consumer<Object> receiver) {
		AsyncCommand<byte[], byte[], ?> command = command(run, true);
		dispatch(command);
		if (command.isCompletedExceptionally()
				&& RedisErrors.isRejected((RuntimeException) answerOrFailure(command, System.nanoTime()))) {
			return false;
		}
		receive(command, (answer) -> {
			if (RedisLockScript.isUnknown(answer)) {
				AsyncCommand<byte[], byte[], ?> text = command(run, false);
				dispatch(text);
				receive(text, receiver);
			}
			else {
				receiver.accept(answer);
			}
		});
		return true;
	}

	@SuppressWarnings("FutureReturnValueIgnored") // failures are told by the callback
	private void receive(AsyncCommand<byte[], byte[], ?> command, Consumer<Object> receiver) {
		command.orTimeout(this.timeout, TimeUnit.NANOSECONDS);
		command.whenComplete((answer, failure) -> {
			if (failure != null) {
				receiver.accept(exception(failure));
			}
			else {
				receiver.accept((answer != null) ? answer : RedisAnswers.missing());
			}
		});
	}

	private static RuntimeException exception(@Nullable Throwable failure) {
		if (failure instanceof TimeoutException) {
			return new RedisCommandTimeoutException("No answer within the command timeout");
		}
		return (failure instanceof RedisException ex) ? ex : new RedisException(failure);
	}

	@Override
	public List<Object> runAll(List<ScriptRun> runs, boolean cached) {
		List<AsyncCommand<byte[], byte[], ?>> commands = commands(runs, cached);
		long deadline = System.nanoTime() + this.timeout;
		dispatch(commands);
		List<Object> answers = new ArrayList<>(commands.size());
		for (AsyncCommand<byte[], byte[], ?> command : commands) {
			answers.add(answerOrFailure(command, deadline));
		}
		return answers;
	}

	/**
	 * For several commands at once, Lettuce connects to the node of each slot in turn,
	 * waits for that, and sends none of them if one node is down.
	 */
	private void dispatch(List<AsyncCommand<byte[], byte[], ?>> commands) {
		if (this.shared instanceof StatefulRedisClusterConnection) {
			commands.forEach(this::dispatch);
		}
		else {
			this.shared.dispatch(commands);
		}
	}

	private void dispatch(AsyncCommand<byte[], byte[], ?> command) {
		try {
			this.shared.dispatch(command);
		}
		catch (RuntimeException ex) {
			command.completeExceptionally(ex);
		}
	}

	/**
	 * A script that was sent to a node without its slot runs on the other node, and its
	 * acknowledgement is missing.
	 */
	@Override
	public List<Object> runAll(List<ScriptRun> runs, boolean cached, WaitCommand acknowledgement) {
		List<AsyncCommand<byte[], byte[], ?>> commands = commands(runs, cached);
		long deadline = System.nanoTime() + this.timeout;
		List<CompletableFuture<Object>> acknowledged = this.nodes.send(runs, commands, acknowledgement);
		List<Object> answers = new ArrayList<>(commands.size());
		for (int i = 0; i < commands.size(); i++) {
			Object answer = answerOrFailure(commands.get(i), deadline);
			CompletableFuture<Object> wait = acknowledged.get(i);
			if (answer instanceof RuntimeException ex && RedisErrors.isRedirection(ex)) {
				Object moved = withTimeout(deadline - System.nanoTime()).runAll(List.of(runs.get(i)), cached).get(0);
				answers.add(acknowledgement.confirmed(moved, RedisUnacknowledgedException::moved));
			}
			else {
				answers.add(acknowledgement.confirmed(answer, () -> answerOrFailure(wait, deadline)));
			}
		}
		return answers;
	}

	private static List<AsyncCommand<byte[], byte[], ?>> commands(List<ScriptRun> runs, boolean cached) {
		List<AsyncCommand<byte[], byte[], ?>> commands = new ArrayList<>(runs.size());
		for (ScriptRun run : runs) {
			commands.add(command(run, cached));
		}
		return commands;
	}

	private static AsyncCommand<byte[], byte[], ?> command(ScriptRun run, boolean cached) {
		return command(run.script(cached), cached, run.returnType(), run.keys(), run.keysAndArgs());
	}

	private static AsyncCommand<byte[], byte[], ?> command(byte[] script, boolean cached, ReturnType returnType,
			int keys, byte[]... keysAndArgs) {
		return (returnType == ReturnType.MULTI)
				? command(new NestedMultiOutput<>(ByteArrayCodec.INSTANCE), script, cached, keys, keysAndArgs)
				: command(new IntegerOutput<>(ByteArrayCodec.INSTANCE), script, cached, keys, keysAndArgs);
	}

	private static <T> AsyncCommand<byte[], byte[], T> command(CommandOutput<byte[], byte[], T> output, byte[] script,
			boolean cached, int keys, byte[]... keysAndArgs) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE).add(script).add(keys);
		for (int i = 0; i < keysAndArgs.length; i++) {
			if (i < keys) {
				args.addKey(keysAndArgs[i]);
			}
			else {
				args.addValue(keysAndArgs[i]);
			}
		}
		return new AsyncCommand<>(new Command<>(cached ? CommandType.EVALSHA : CommandType.EVAL, output, args));
	}

	private static Object answerOrFailure(CompletableFuture<?> command, long deadline) {
		try {
			return RedisAnswers.required(answer(command, deadline));
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private static <T> T answer(CompletableFuture<T> command, long deadline) {
		try {
			return command.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw exception(ex.getCause());
		}
		catch (TimeoutException ex) {
			// a command that is not sent yet must not be sent
			command.cancel(true);
			throw exception(ex);
		}
		catch (InterruptedException ex) {
			command.cancel(true);
			Thread.currentThread().interrupt();
			throw new RedisCommandInterruptedException(ex);
		}
	}

	/**
	 * Leaves the shared connection open.
	 */
	@Override
	public void close() {
	}

}
