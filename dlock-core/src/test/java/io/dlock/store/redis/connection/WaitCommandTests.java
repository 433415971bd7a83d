package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * The acknowledgement behind a script.
 */
class WaitCommandTests {

	private static final Duration TIMEOUT = Duration.ofMillis(100);

	private final WaitCommand fsync = new WaitCommand(0, TIMEOUT);

	private final WaitCommand replicas = new WaitCommand(2, TIMEOUT);

	/**
	 * The server answers with the number of disks, its own and those of replicas.
	 */
	@Test
	void grantThatIsNotOnTheDiskOfTheServerIsNotAcknowledged() {
		assertThat(this.fsync.confirmed(1L, () -> List.of(0L, 0L))).isInstanceOf(RedisUnacknowledgedException.class);
		assertThat(this.fsync.confirmed(1L, () -> List.of(0L, 1L))).as("only on that of a replica")
			.isInstanceOf(RedisUnacknowledgedException.class);
		assertThat(this.fsync.confirmed(1L, () -> List.of(1L, 0L))).isEqualTo(1L);
	}

	@Test
	void grantThatTooFewReplicasHaveIsNotAcknowledged() {
		assertThat(this.replicas.confirmed(1L, () -> 1L)).isInstanceOf(RedisUnacknowledgedException.class);
		assertThat(this.replicas.confirmed(1L, () -> 2L)).isEqualTo(1L);
		assertThat(this.replicas.confirmed(List.of(1L, 7L), () -> 3L)).isEqualTo(List.of(1L, 7L));
	}

	@Test
	void refusalNeedsNoAcknowledgement() {
		assertThat(this.fsync.confirmed(0L, () -> fail("is not asked"))).isEqualTo(0L);
	}

}
