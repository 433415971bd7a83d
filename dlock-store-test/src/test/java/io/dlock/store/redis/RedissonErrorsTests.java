package io.dlock.store.redis;

import java.net.ConnectException;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisResponseTimeoutException;
import org.springframework.dao.InvalidDataAccessApiUsageException;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.redis.connection.RedisErrors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Exceptions of a client that has one type for its own errors and those of the server.
 */
class RedissonErrorsTests {

	private static StoreException translate(RedisException cause) {
		return RedisErrors.translate("acquire", new InvalidDataAccessApiUsageException("Error", cause));
	}

	/**
	 * An attempt before the last one may have been sent.
	 */
	@Test
	void r24ErrorOfTheServerMayFollowAnAttemptThatWasSent() {
		assertThat(translate(new RedisNoScriptException("NOSCRIPT No matching script. channel: [id: 1]")))
			.matches((ex) -> ex.effect() == Effect.UNKNOWN && !ex.isPermanent());
		assertThat(translate(new RedisException("WRONGTYPE Operation against a key. channel: [id: 1]")))
			.matches((ex) -> ex.effect() == Effect.UNKNOWN && ex.isPermanent());
	}

	@Test
	void r24CallWithoutAnAnswerIsNoRefusalWhateverItsMessage() {
		for (RedisException cause : List.of(new RedisConnectionException("SSL peer shut down"),
				new RedisResponseTimeoutException("NOW it is late"),
				new RedisConnectionException("Unable to connect", new ConnectException("Connection refused")))) {
			assertThat(translate(cause)).hasMessageContaining("gave no answer")
				.matches((ex) -> ex.effect() == Effect.UNKNOWN && !ex.isPermanent());
		}
	}

}
