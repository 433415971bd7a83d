package io.dlock.store.redis.connection;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

/**
 * The threads of connections to several servers that are asked at once, such as the nodes
 * of a quorum. With threads of their own for each server, one would wake up for each
 * command and for each answer. The connections that are closed last end the threads.
 */
final class SharedLettuceResources {

	private final AtomicInteger users = new AtomicInteger();

	private @Nullable ClientResources resources;

	/**
	 * The resources, which are created with the first connections.
	 * @param original those of the application, or {@code null}
	 */
	ClientResources get(@Nullable ClientResources original) {
		if (this.resources == null) {
			this.resources = (original != null) ? sharing(original).build() : ClientResources.create();
		}
		return this.resources;
	}

	/**
	 * A mutated copy shuts down the executor, the timer and the metrics of its original
	 * with itself. Only what is set explicitly is left to its owner.
	 */
	static ClientResources.Builder sharing(ClientResources resources) {
		return resources.mutate()
			.eventExecutorGroup(resources.eventExecutorGroup())
			.timer(resources.timer())
			.commandLatencyRecorder(resources.commandLatencyRecorder());
	}

	void retain() {
		this.users.incrementAndGet();
	}

	void release() {
		if (this.users.decrementAndGet() == 0) {
			shutdown();
		}
	}

	void shutdown() {
		if (this.resources != null) {
			this.resources.shutdown(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
		}
	}

}
