package io.dlock.store.redis;

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

	@Test
	void errorOfTheServerIsARefusal() {
		assertThat(translate(new RedisNoScriptException("NOSCRIPT No matching script. channel: [id: 1]")))
			.matches((ex) -> ex.effect() == Effect.NONE && !ex.isLasting());
		assertThat(translate(new RedisException("WRONGTYPE Operation against a key. channel: [id: 1]")))
			.matches((ex) -> ex.effect() == Effect.NONE && ex.isLasting());
	}

	@Test
	void r24CallWithoutAnAnswerIsUnknownWhateverItsMessage() {
		assertThat(translate(new RedisConnectionException("SSL peer shut down")).effect()).isEqualTo(Effect.UNKNOWN);
		assertThat(translate(new RedisResponseTimeoutException("NOW it is late")).effect()).isEqualTo(Effect.UNKNOWN);
	}

}
