package io.dlock.torture;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

import io.dlock.torture.fault.Tier;
import io.dlock.torture.server.StoreType;

/**
 * What a campaign is to do.
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
 * @param without the numbers of faults to leave out, with a plus between them
 * @param directory where the directory of the run is made
 */
record CampaignOptions(StoreType store, String contender, Tier tier, Duration duration, long seed, int clients,
		int threads, int keys, Duration lease, String without, Path directory) {

	static final String USAGE = "run --store=redis|redis-sentinel|redis-cluster|postgres|mariadb [--contender=dlock]"
			+ " [--tier=S|L] [--duration=600s|10m|0] [--seed=1] [--clients=3] [--threads=4] [--keys=4] [--lease=1000]"
			+ " [--without=F28+F29]";

	static CampaignOptions parse(String... args) {
		Arguments arguments = Arguments.parse(args);
		return new CampaignOptions(StoreType.of(arguments.text("store", "redis")), arguments.text("contender", "dlock"),
				Tier.valueOf(arguments.text("tier", "S").toUpperCase(Locale.ROOT)),
				duration(arguments.text("duration", "60s")),
				arguments.number("seed", ThreadLocalRandom.current().nextLong(1, 1_000_000)),
				arguments.number("clients", 3), arguments.number("threads", 4), arguments.number("keys", 4),
				Duration.ofMillis(arguments.number("lease", 1000)), arguments.text("without", "none"),
				Path.of(arguments.text("directory", "target/torture")));
	}

	private static Duration duration(String text) {
		return text.matches("\\d+") ? Duration.ofSeconds(Long.parseLong(text)) : Duration.parse("PT" + text);
	}

	/**
	 * Several campaigns at once on a machine would disturb each other by loading it,
	 * which only the one that does knows of.
	 */
	boolean isWanted(String fault) {
		return !List.of(this.without.split("\\+")).contains(fault);
	}

	boolean isSmoke() {
		return this.duration.isZero();
	}

}
