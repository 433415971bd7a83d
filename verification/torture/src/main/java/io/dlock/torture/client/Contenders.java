package io.dlock.torture.client;

import io.dlock.torture.client.RedissonContender.Locks;

/**
 * All contenders by name.
 */
final class Contenders {

	private Contenders() {
	}

	/**
	 * Connect a contender.
	 * @param options who and where
	 */
	static Contender connect(ClientOptions options) {
		return switch (options.contender()) {
			case "dlock" -> DlockContender.connect(options.store(), options.lease(), options.instance());
			case "redisson" -> new RedissonContender(options.store(), options.lease(), Locks.PLAIN);
			case "redisson-fenced" -> new RedissonContender(options.store(), options.lease(), Locks.FENCED);
			case "redisson-kinds" -> new RedissonContender(options.store(), options.lease(), Locks.KINDS);
			case "shedlock" -> ShedLockContender.connect(options.store(), options.instance());
			case "spring-integration" -> SpringIntegrationContender.connect(options.store(), options.lease(), false);
			case "spring-integration-spin" ->
				SpringIntegrationContender.connect(options.store(), options.lease(), true);
			default -> throw new IllegalArgumentException("No contender '" + options.contender() + "'");
		};
	}

}
