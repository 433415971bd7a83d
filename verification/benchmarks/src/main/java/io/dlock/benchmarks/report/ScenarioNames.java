package io.dlock.benchmarks.report;

/**
 * The names of the scenarios, as on the command line and in the results.
 */
public final class ScenarioNames {

	/** One thread, a key of its own. */
	public static final String UNCONTENDED_ONE = "uncontended-1";

	/** Many threads, a key each. */
	public static final String UNCONTENDED_MANY = "uncontended-n";

	/** One key, 16 threads of one JVM. */
	public static final String ONE_KEY_THREADS = "one-key-threads";

	/** One key, 8 threads of one JVM that try and never wait. */
	public static final String POLLING_TRIES = "polling-tries-8";

	/** One key, 3 JVMs of 4 threads. */
	public static final String ONE_KEY_JVMS = "one-key-jvms";

	/** One thread, one key or two at once. */
	public static final String TWO_KEYS = "two-keys";

	/** One key, 16 threads of one JVM that share it. */
	public static final String READERS = "readers";

	/** One key, 3 JVMs of 4 threads that share it nine times of ten. */
	public static final String READERS_JVMS = "readers-jvms";

	/** One limit of 4, 16 threads of one JVM. */
	public static final String PERMITS = "permits";

	/** One key, 3 JVMs of 4 threads, first come, first served. */
	public static final String FAIR_JVMS = "fair-jvms";

	/** One thread, a key of its own, on one server and on five. */
	public static final String QUORUM = "quorum";

	/** One key handed to and fro by two JVMs. */
	public static final String HAND_OFF = "hand-off";

	/** Many asynchronous requests to a server that does not answer. */
	public static final String DEADLINES = "deadlines";

	/** Many locks, held and renewed. */
	public static final String HELD = "held";

	/** Many keys, each locked once. */
	public static final String KEYS = "keys";

	/** The aspect, without a server. */
	public static final String ASPECT = "aspect";

	/** The start of an application. */
	public static final String START_UP = "start-up";

	/** The store of contenders that need no server, listed among the servers. */
	public static final String MEMORY = "memory";

	/** The unit of hand-offs, listed among the contenders. */
	public static final String ROUND_TRIP = "round trip";

	/** Our locks by the majority of five servers, listed among the contenders. */
	public static final String DLOCK_QUORUM = "dlock-quorum";

	/** Redisson's lock of five servers, listed among the contenders. */
	public static final String REDISSON_MULTI = "redisson-multi";

	private ScenarioNames() {
	}

}
