package io.dlock.torture;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

import io.dlock.store.Quarantine;
import io.dlock.torture.fault.Tier;
import io.dlock.torture.server.StoreType;
import io.dlock.torture.server.StoreType.Ability;

/**
 * The options of a campaign.
 *
 * @param store on which store
 * @param contender who is tortured
 * @param tier with which faults
 * @param duration how long, zero for every kind of fault once, as fast as possible
 * @param seed of all random choices
 * @param clients how many client processes
 * @param threads how many threads each has
 * @param keys how many keys they share
 * @param lease the lease of the locks
 * @param futures the number of locks that each client asks for at a time without waiting
 * @param pollers the number of threads of each client that try keys without waiting calls
 * @param transfers the number of threads of each client that lock several accounts at a
 * time
 * @param places the number of threads of each client that share keys with others
 * @param kept the number of locks that a client of its own keeps all the time
 * @param quarantine whether locks are not granted for a while when the store may have
 * forgotten some, so that its failovers belong to tier S
 * @param wrongClocks how many nodes of a quorum may have a wrong clock; with one or more,
 * the clock of one node is stepped in tier S as well
 * @param only the numbers of the only faults to inflict, with a plus between them, or
 * {@code all}
 * @param without the numbers of faults to leave out, with a plus between them
 * @param directory where the directory of the run is made
 */
record CampaignOptions(StoreType store, String contender, Tier tier, Duration duration, long seed, int clients,
		int threads, int keys, Duration lease, int futures, int pollers, int transfers, int places, int fair, int kept,
		boolean quarantine, int wrongClocks, String only, String without, Path directory) {

	private static final String ALL = "all";

	private static final Duration MAX_LAG = Duration.ofSeconds(4);

	/** The contender with all kinds of calls; its peers make fewer. */
	private static final String US = "dlock";

	/** A peer with several kinds of locks. */
	private static final String KINDS = "redisson-kinds";

	static final String USAGE = "run --store=redis|redis-sentinel|redis-cluster|redis-quorum|postgres|mariadb [--contender=dlock]"
			+ " [--tier=S|L] [--duration=600s|10m|0] [--seed=1] [--clients=3] [--threads=4|2] [--keys=4] [--lease=1000]"
			+ " [--futures=36|18] [--pollers=2|1] [--transfers=1] [--places=2] [--fair=2] [--kept=10000] [--quarantine=true] [--wrong-clocks=1] [--only=F24+F32] [--without=F28+F29]";

	static CampaignOptions parse(String... args) {
		Arguments arguments = Arguments.parse(args);
		String contender = arguments.text("contender", US);
		Duration duration = duration(arguments.text("duration", "60s"));
		boolean more = contender.equals(US);
		StoreType store = StoreType.of(arguments.text("store", "redis"));
		boolean kinds = (more && store.has(Ability.KINDS)) || contender.equals(KINDS);
		int part = (more && !store.isRedis()) ? 2 : 1;
		boolean quarantine = Boolean
			.parseBoolean(arguments.text("quarantine", Boolean.toString(more && store == StoreType.REDIS_QUORUM)));
		if (quarantine && !(more && store.has(Ability.QUARANTINE))) {
			throw new IllegalArgumentException(contender + " on " + store.label() + " has no quarantine");
		}
		int wrongClocks = arguments.number("wrong-clocks", 0);
		if (wrongClocks > 0 && store != StoreType.REDIS_QUORUM) {
			throw new IllegalArgumentException(store.label() + " has one clock, which must not be wrong");
		}
		return new CampaignOptions(store, contender, Tier.valueOf(arguments.text("tier", "S").toUpperCase(Locale.ROOT)),
				duration, arguments.number("seed", ThreadLocalRandom.current().nextLong(1, 1_000_000)),
				arguments.number("clients", 3), arguments.number("threads", 4 / part), arguments.number("keys", 4),
				Duration.ofMillis(arguments.number("lease", 1000)), arguments.number("futures", more ? 36 / part : 0),
				arguments.number("pollers", more ? 2 / part : 0),
				arguments.number("transfers", (more || kinds) ? 1 : 0), arguments.number("places", kinds ? 2 : 0),
				arguments.number("fair", (kinds && !duration.isZero()) ? 2 : 0),
				arguments.number("kept", (more && store.has(Ability.MANY_LOCKS)) ? kept(duration, quarantine) : 0),
				quarantine, wrongClocks, arguments.text("only", ALL), arguments.text("without", "none"),
				Path.of(arguments.text("directory", "target/torture")));
	}

	/**
	 * The number of kept locks: a smoke test has no time for as many, and without long
	 * leases there would be too many renewals.
	 */
	private static int kept(Duration duration, boolean quarantine) {
		return (duration.isZero() || quarantine) ? 1000 : 10_000;
	}

	/**
	 * The terms of the quarantine: no client asks for more than two leases. A master
	 * refuses writes when its replica was silent for two seconds.
	 */
	Optional<Quarantine> terms() {
		boolean replicas = this.store == StoreType.REDIS_SENTINEL || this.store == StoreType.REDIS_CLUSTER;
		Duration lag = replicas ? MAX_LAG : Duration.ZERO;
		return this.quarantine ? Optional.of(new Quarantine(this.lease.multipliedBy(2), lag)) : Optional.empty();
	}

	private static Duration duration(String text) {
		return text.matches("\\d+") ? Duration.ofSeconds(Long.parseLong(text)) : Duration.parse("PT" + text);
	}

	/**
	 * Several campaigns at once on a machine would disturb each other by loading it,
	 * which only the one that does knows of.
	 */
	boolean isWanted(String fault) {
		return (this.only.equals(ALL) || contains(this.only, fault)) && !contains(this.without, fault);
	}

	private static boolean contains(String faults, String fault) {
		return List.of(faults.split("\\+")).contains(fault);
	}

	boolean isSmoke() {
		return this.duration.isZero();
	}

}
