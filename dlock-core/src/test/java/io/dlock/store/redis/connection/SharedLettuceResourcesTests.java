package io.dlock.store.redis.connection;

import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SharedLettuceResourcesTests {

	@Test
	void lastUserEndsTheThreads() {
		SharedLettuceResources shared = new SharedLettuceResources();
		ClientResources resources = shared.get(null);
		shared.retain();
		shared.retain();
		shared.release();
		assertThat(resources.eventExecutorGroup().isShuttingDown()).isFalse();
		shared.release();
		assertThat(resources.eventExecutorGroup().isShuttingDown()).isTrue();
	}

}
