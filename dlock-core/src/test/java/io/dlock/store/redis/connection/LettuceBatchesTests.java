package io.dlock.store.redis.connection;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.Test;

import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Batches on a connection whose server says nothing.
 */
class LettuceBatchesTests {

	private final List<List<AsyncCommand<byte[], byte[], ?>>> dispatched = new ArrayList<>();

	/** The timeout is not over before the next scripts are sent. */
	private final LettuceBatches batches = new LettuceBatches(connection(), new WaitCommand(1, Duration.ofMillis(1)),
			Duration.ofSeconds(2).toNanos());

	@SuppressWarnings("unchecked")
	private StatefulConnection<byte[], byte[]> connection() {
		return (StatefulConnection<byte[], byte[]>) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { StatefulConnection.class }, (proxy, method, arguments) -> {
					this.dispatched.add(List.copyOf((Collection<AsyncCommand<byte[], byte[], ?>>) arguments[0]));
					return arguments[0];
				});
	}

	private static AsyncCommand<byte[], byte[], ?> script() {
		return new AsyncCommand<>(new Command<>(CommandType.EVALSHA, new IntegerOutput<>(ByteArrayCodec.INSTANCE)));
	}

	/**
	 * No thread has to wait for that: it may have been interrupted.
	 */
	@Test
	void scriptsAreSentAfterAWaitThatIsNotAnswered() {
		CompletableFuture<Object> first = new CompletableFuture<>();
		CompletableFuture<Object> next = new CompletableFuture<>();
		this.batches.send(List.of(script()), first);
		this.batches.send(List.of(script(), script()), next);
		this.batches.send(List.of(script()), next);
		assertThat(first).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
		assertThat(next).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
		assertThat(this.dispatched).extracting(List::size).containsExactly(2, 4);
	}

	@Test
	void scriptsThatWereGivenUpAreNotSent() {
		CompletableFuture<Object> first = new CompletableFuture<>();
		AsyncCommand<byte[], byte[], ?> givenUp = script();
		this.batches.send(List.of(script()), first);
		this.batches.send(List.of(givenUp), new CompletableFuture<>());
		givenUp.cancel(true);
		assertThat(first).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
		assertThat(this.dispatched).hasSize(1);
		this.batches.send(List.of(script()), new CompletableFuture<>());
		assertThat(this.dispatched).extracting(List::size).containsExactly(2, 2);
	}

}
