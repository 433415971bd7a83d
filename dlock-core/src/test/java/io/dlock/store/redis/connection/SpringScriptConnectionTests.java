package io.dlock.store.redis.connection;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Queue;

import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.Test;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Scripts that run one after the other, each with the timeout of the application.
 */
class SpringScriptConnectionTests {

	private static final ScriptRun RUN = new RedisLockScript("return 1").number(new byte[1]);

	/** The answers to come. */
	private final Queue<Object> answers = new ArrayDeque<>();

	private final SpringScriptConnection connection = new SpringScriptConnection(server());

	private RedisConnection server() {
		return (RedisConnection) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedisConnection.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("scriptingCommands")) {
						return proxy;
					}
					Object answer = this.answers.remove();
					if (answer instanceof RuntimeException ex) {
						throw ex;
					}
					return answer;
				});
	}

	@Test
	void serverWithoutAnAnswerCostsOneTimeoutAndNotOneForEachScript() {
		QueryTimeoutException timeout = new QueryTimeoutException("Redis command timed out");
		this.answers.addAll(List.of(1L, timeout, 1L, 1L, 1L));
		assertThat(this.connection.runAll(Collections.nCopies(5, RUN), true)).containsExactly(1L, timeout, timeout,
				timeout, timeout);
		assertThat(this.answers).as("the others are not sent").hasSize(3);
	}

	@Test
	void scriptThatTheServerRefusesKeepsNoOtherFromIt() {
		RedisSystemException refused = new RedisSystemException("Error in execution",
				new RedisCommandExecutionException("NOSCRIPT No matching script"));
		this.answers.addAll(List.of(refused, 1L, 0L));
		assertThat(this.connection.runAll(Collections.nCopies(3, RUN), true)).containsExactly(refused, 1L, 0L);
	}

	@Test
	void scriptsThatAreSentAgainAreAnsweredInTheirPlaces() {
		RedisSystemException unknown = new RedisSystemException("Error in execution",
				new RedisCommandExecutionException("NOSCRIPT No matching script"));
		this.answers.addAll(List.of(5L, unknown, 6L, unknown, 7L, 8L));
		assertThat(RedisLockScript.answers(this.connection, Collections.nCopies(4, RUN), null)).containsExactly(5L, 7L,
				6L, 8L);
	}

	@Test
	void connectionIsGivenBackAndItsFailureIsNoneOfTheScript() {
		this.answers.addAll(List.of("closed", new IllegalStateException("is broken")));
		this.connection.close();
		this.connection.close();
		assertThat(this.answers).isEmpty();
	}

}
