package io.dlock.torture.cost;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.dlock.LockRequest;
import io.dlock.store.Quarantine;
import io.dlock.torture.Arguments;
import io.dlock.torture.client.DlockContender;
import io.dlock.torture.server.StoreType;
import io.dlock.torture.server.StoreUnderTest;

/**
 * A store and a setting whose costs are measured.
 *
 * @param type the store
 * @param name its name in the table
 * @param outages the outages to inflict on it
 * @param durable whether nothing is lost, and no server replaces another
 * @param quarantine the terms, none without a quarantine
 */
record Topology(StoreType type, String name, List<Outage> outages, boolean durable, Optional<Quarantine> quarantine) {

	/** The usual lease, and the longest that a quarantine allows. */
	static final Duration LEASE = Duration.ofSeconds(2);

	/** A master refuses writes when its replica was silent for two seconds less. */
	static final Duration MAX_LAG = Duration.ofSeconds(4);

	/** The wait time of a call that must not fail. */
	static final Duration PATIENCE = Duration.ofMinutes(1);

	static Topology of(StoreType type, String name, Outage... outages) {
		return new Topology(type, name, List.of(outages), false, Optional.empty());
	}

	Topology withDurability() {
		return new Topology(this.type, this.name, this.outages, true, this.quarantine);
	}

	Topology withQuarantine(Duration maxLag) {
		return new Topology(this.type, this.name, this.outages, this.durable,
				Optional.of(new Quarantine(LEASE, maxLag)));
	}

	StoreUnderTest start() {
		return StoreUnderTest.start(this.type, new StoreUnderTest.Mode(this.durable, false, this.quarantine, Map.of()));
	}

	DlockContender connect(StoreUnderTest store) {
		return connect(store, store.nodes().get(0).port());
	}

	/**
	 * Connect to a store, and wait until it grants locks.
	 * @param port the port of a store that does not name its addresses
	 */
	DlockContender connect(StoreUnderTest store, int port) {
		List<String> options = new ArrayList<>(store.clientOptions(port));
		this.quarantine.ifPresent((terms) -> options.addAll(List
			.of("--longest-lease=" + terms.longestLease().toMillis(), "--max-lag=" + terms.maxLag().toMillis())));
		DlockContender contender = DlockContender.connect(Arguments.parse(options.toArray(String[]::new)), LEASE);
		contender.registry().acquire(LockRequest.builder("first").waitTime(PATIENCE).build()).release();
		return contender;
	}

}
