package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

import org.redisson.api.RedissonClient;

/**
 * All contenders.
 */
@SuppressWarnings("ImmutableEnumChecker") // neither the sets nor the functions change
public enum ContenderType {

	DLOCK("dlock", EnumSet.allOf(Backend.class), DlockContender::connect),

	/** Measured without contention, where it makes a difference. */
	DLOCK_ASYNC("dlock-async", EnumSet.allOf(Backend.class), DlockContender::connectAsync),

	/** Measured where processes contend for a fair lock. */
	DLOCK_FAIR("dlock-fair", EnumSet.allOf(Backend.class), DlockContender::connectFair),

	RAW("raw", EnumSet.allOf(Backend.class),
			(address, lease) -> (address.backend() == Backend.REDIS) ? new RawRedisContender(address, lease)
					: new RawPostgresContender(address, lease)),

	REDISSON("redisson", EnumSet.of(Backend.REDIS),
			(address, lease) -> new RedissonContender(address, lease, RedissonClient::getLock)),

	REDISSON_FENCED("redisson-fenced", EnumSet.of(Backend.REDIS),
			(address, lease) -> new RedissonContender(address, lease, RedissonClient::getFencedLock)),

	REDISSON_FAIR("redisson-fair", EnumSet.of(Backend.REDIS),
			(address, lease) -> new RedissonContender(address, lease, RedissonClient::getFairLock)),

	SPRING_INTEGRATION("spring-integration", EnumSet.allOf(Backend.class), SpringIntegrationContender::connect),

	SHEDLOCK("shedlock", EnumSet.allOf(Backend.class), ShedLockContender::connect),

	LOCK4J("lock4j", EnumSet.of(Backend.REDIS), Lock4jContender::new),

	/** Measured where threads of one JVM contend, on either server. */
	REENTRANT_LOCK("reentrantlock-fair", EnumSet.allOf(Backend.class),
			(address, lease) -> new ReentrantLockContender()),

	/** Measured with tries. */
	STORE("store", EnumSet.allOf(Backend.class), StoreContender::connect),

	/** Measured with tries, beside our memory store, and with permits. */
	SEMAPHORE("semaphore", EnumSet.allOf(Backend.class), (address, lease) -> new SemaphoreContender());

	/**
	 * The contenders that processes can share.
	 */
	public static final Set<ContenderType> DISTRIBUTED = EnumSet
		.complementOf(EnumSet.of(REENTRANT_LOCK, DLOCK_ASYNC, DLOCK_FAIR, STORE, SEMAPHORE));

	/**
	 * The libraries that people use instead of ours.
	 */
	public static final Set<ContenderType> PEERS = EnumSet.of(REDISSON, REDISSON_FENCED, REDISSON_FAIR,
			SPRING_INTEGRATION, SHEDLOCK, LOCK4J);

	private final String label;

	private final Set<Backend> backends;

	private final BiFunction<ServerAddress, Duration, Contender> factory;

	ContenderType(String label, Set<Backend> backends, BiFunction<ServerAddress, Duration, Contender> factory) {
		this.label = label;
		this.backends = backends;
		this.factory = factory;
	}

	public String label() {
		return this.label;
	}

	public boolean runsOn(Backend backend) {
		return this.backends.contains(backend);
	}

	/**
	 * Create a contender that needs no server.
	 * @param lease the lease of every lock
	 * @return the contender, to be closed
	 */
	public Contender inMemory(Duration lease) {
		return switch (this) {
			case DLOCK -> DlockContender.inMemory(lease);
			case STORE -> StoreContender.inMemory(lease);
			case SEMAPHORE -> new SemaphoreContender();
			default -> throw new UnsupportedOperationException(this.label + " needs a server");
		};
	}

	/**
	 * Connect to a server.
	 * @param address the server
	 * @param lease the lease of every lock
	 * @return the contender, to be closed
	 */
	public Contender connect(ServerAddress address, Duration lease) {
		return this.factory.apply(address, lease);
	}

	public static ContenderType of(String label) {
		return Arrays.stream(values())
			.filter((type) -> type.label.equals(label))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("No contender '" + label + "', only " + labels()));
	}

	public static List<String> labels() {
		return Arrays.stream(values()).map(ContenderType::label).toList();
	}

}
