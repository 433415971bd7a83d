package io.dlock.torture.fault;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.dlock.torture.server.StoreType;
import io.dlock.torture.server.StoreType.Ability;

/**
 * Which faults a store can suffer on this machine.
 */
public final class FaultCatalogue {

	private FaultCatalogue() {
	}

	/**
	 * List the faults of a campaign.
	 * @param bed what they are inflicted on
	 * @param tier the tier of the campaign; one of tier L has the faults of tier S too
	 * @return the kinds of fault
	 */
	public static List<FaultType> of(Bed bed, Tier tier) {
		Duration lease = bed.lease();
		StoreType store = bed.store().type();
		List<FaultType> faults = new ArrayList<>(ClientFaults.all(lease));
		faults.addAll(InsideFaults.all(lease));
		faults.addAll(HostFaults.all(lease));
		if (bed.store().links().isEmpty() && !bed.links().isEmpty()) {
			faults.addAll(LinkFaults.all(lease, Scope.LINK));
			faults.add(ClientFaults.frozenBeforeReply(lease));
		}
		else if (!bed.links().isEmpty()) {
			faults.addAll(LinkFaults.all(lease, Scope.NODE_LINK));
		}
		if (bed.clients().stream().allMatch((client) -> client.clock().isPresent())) {
			faults.add(ClientFaults.clockStep(lease));
			faults.add(ClientFaults.clockDrift(lease));
		}
		boolean forgetful = tier == Tier.L || !bed.quarantine().isZero();
		faults.addAll(safe(store, lease, tier, forgetful));
		if (forgetful) {
			forgetting(store, lease).forEach(
					(fault) -> faults.add(bed.quarantine().isZero() ? fault : fault.quarantined(bed.quarantine())));
		}
		if (store == StoreType.REDIS_QUORUM) {
			bed.storeClock().ifPresent((clock) -> faults.add(QuorumFaults.wrongClock(lease, tier)));
		}
		if (store.has(Ability.MESSAGES) && !bed.links().isEmpty()) {
			faults.add(LinkFaults.silentSubscription(bed.store().links().isEmpty() ? Scope.LINK : Scope.NODE_LINK));
		}
		if (bed.store().disk().isPresent()) {
			faults.addAll(store.isRedis() ? DiskFaults.redis(lease) : DiskFaults.postgres(lease));
		}
		if (tier == Tier.L) {
			faults.addAll(losing(bed));
		}
		return faults;
	}

	/**
	 * Faults after which the store knows each lock that it has granted. A store whose
	 * masters are replaced has none that stops a master for long: each would be one more
	 * failover.
	 */
	private static List<FaultType> safe(StoreType store, Duration lease, Tier tier, boolean forgetful) {
		List<FaultType> faults = new ArrayList<>();
		switch (store) {
			case REDIS -> {
				faults.addAll(forgetful ? List.of(NodeFaults.pause(lease)) : NodeFaults.durable(lease));
				faults.addAll(RedisFaults.safe(lease));
				faults.add(Credentials.redis(lease));
			}
			case REDIS_SENTINEL, REDIS_CLUSTER -> {
				if (forgetful) {
					faults.addAll(RedisFaults.connections(lease));
					faults.add(FailoverFaults.lag(lease));
				}
				else {
					faults.addAll(NodeFaults.durable(lease));
					faults.addAll(RedisFaults.safe(lease));
				}
				if (store == StoreType.REDIS_CLUSTER) {
					faults.add(Credentials.redis(lease));
				}
			}
			case REDIS_QUORUM -> {
				faults.addAll(QuorumFaults.safe(lease));
				faults.addAll(RedisFaults.safe(lease));
				faults.add(Credentials.redis(lease));
			}
			case POSTGRES -> {
				faults.add(NodeFaults.pause(lease));
				faults.addAll(forgetful ? List.of() : NodeFaults.restarts(lease));
				faults.addAll(SqlFaults.postgres().safe(lease));
				faults.addAll(List.of(Demotion.postgres(lease), Credentials.postgres(lease)));
				if (tier == Tier.S) {
					// commits wait for nothing in tier L
					faults.add(SlowCommit.postgres(lease));
				}
			}
			case MARIADB -> {
				faults.addAll(NodeFaults.durable(lease));
				faults.addAll(SqlFaults.mariaDb().safe(lease));
				faults.addAll(List.of(Demotion.mariaDb(lease), Credentials.mariaDb(lease), SlowCommit.mariaDb(lease)));
			}
		}
		if (store == StoreType.REDIS_CLUSTER && !forgetful) {
			faults.add(ClusterFaults.moveSlots(lease));
		}
		return faults;
	}

	/**
	 * Faults after which a store may have forgotten locks that it has granted, or has
	 * those of another, and can know that.
	 */
	private static List<FaultType> forgetting(StoreType store, Duration lease) {
		return switch (store) {
			case REDIS -> List.of(NodeFaults.forgetfulRestart(lease), RedisFaults.flushAll());
			case REDIS_SENTINEL -> FailoverFaults.losing(lease);
			case REDIS_CLUSTER -> Stream.concat(Stream.of(NodeFaults.forgetfulRestart(lease), RedisFaults.flushAll(),
					ClusterFaults.moveSlots(lease)), FailoverFaults.losing(lease).stream())
				.toList();
			case REDIS_QUORUM -> QuorumFaults.forgetting(lease);
			// for its quarantine, a restart is one of these although it forgets nothing
			case POSTGRES ->
				Stream.concat(NodeFaults.restarts(lease).stream(), Stream.of(SqlFaults.promotion(lease))).toList();
			case MARIADB -> List.of();
		};
	}

	private static List<FaultType> losing(Bed bed) {
		List<FaultType> faults = new ArrayList<>();
		switch (bed.store().type()) {
			case REDIS, REDIS_CLUSTER -> faults.addAll(RedisFaults.losing(bed.lease()));
			case REDIS_QUORUM -> {
				faults.addAll(RedisFaults.losing(bed.lease()));
				faults.add(RedisFaults.flushAll());
			}
			case REDIS_SENTINEL -> {
			}
			case POSTGRES -> faults.addAll(SqlFaults.postgres().losing());
			case MARIADB -> faults.addAll(SqlFaults.mariaDb().losing());
		}
		if (bed.store().type() != StoreType.REDIS_QUORUM) {
			bed.storeClock().ifPresent((clock) -> faults.add(NodeFaults.clockStep(bed.lease())));
		}
		return faults;
	}

}
