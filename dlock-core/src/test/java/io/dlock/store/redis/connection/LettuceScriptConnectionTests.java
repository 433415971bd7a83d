package io.dlock.store.redis.connection;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.protocol.AsyncCommand;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.ReturnType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A command that no thread waits for any more is given up: Lettuce does not send it, or
 * send it again, later.
 */
class LettuceScriptConnectionTests {

	private final List<AsyncCommand<?, ?, ?>> dispatched = new ArrayList<>();

	private final LettuceScriptConnection connection = new LettuceScriptConnection(neverAnswering(),
			Duration.ofSeconds(30).toNanos());

	private final LettuceScriptConnection impatient = this.connection.withTimeout(Duration.ofMillis(50).toNanos());

	@SuppressWarnings("unchecked")
	private StatefulConnection<byte[], byte[]> neverAnswering() {
		return (StatefulConnection<byte[], byte[]>) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { StatefulConnection.class }, (proxy, method, arguments) -> {
					if (arguments[0] instanceof Collection<?> commands) {
						commands.forEach((command) -> this.dispatched.add((AsyncCommand<?, ?, ?>) command));
					}
					else {
						this.dispatched.add((AsyncCommand<?, ?, ?>) arguments[0]);
					}
					return arguments[0];
				});
	}

	@AfterEach
	void clearFlag() {
		Thread.interrupted();
	}

	private static void assertThatFlagIsKept() {
		assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
	}

	@Test
	void d8CommandOfAnInterruptedThreadIsCancelled() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(RedisCommandInterruptedException.class)
			.isThrownBy(() -> this.connection.run(new byte[1], false, ReturnType.INTEGER, 1, new byte[1]));
		assertThat(this.dispatched).singleElement().satisfies((command) -> assertThat(command.isCancelled()).isTrue());
		assertThatFlagIsKept();
	}

	@Test
	void d8BatchOfAnInterruptedThreadIsCancelled() {
		Thread.currentThread().interrupt();
		ScriptRun run = new RedisLockScript("return 1").number(new byte[1]);
		List<Object> answers = this.connection.runAll(List.of(run, run, run), true);
		assertThat(answers).hasSize(3).hasOnlyElementsOfType(RedisCommandInterruptedException.class);
		assertThat(this.dispatched).hasSize(3).allMatch(AsyncCommand::isCancelled);
		assertThatFlagIsKept();
	}

	@Test
	void commandWithoutAnAnswerInTimeIsCancelled() {
		assertThatExceptionOfType(RedisCommandTimeoutException.class)
			.isThrownBy(() -> this.impatient.run(new byte[1], false, ReturnType.INTEGER, 1, new byte[1]));
		assertThat(this.dispatched).singleElement().satisfies((command) -> assertThat(command.isCancelled()).isTrue());
	}

	@Test
	void batchWithoutAnAnswerInTimeIsCancelled() {
		ScriptRun run = new RedisLockScript("return 1").number(new byte[1]);
		List<Object> answers = this.impatient.runAll(List.of(run, run, run), true);
		assertThat(answers).hasSize(3).hasOnlyElementsOfType(RedisCommandTimeoutException.class);
		assertThat(this.dispatched).hasSize(3).allMatch(AsyncCommand::isCancelled);
	}

}
