package io.dlock.torture.fault;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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
		faults.addAll(safe(store, lease, tier));
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

	private static List<FaultType> safe(StoreType store, Duration lease, Tier tier) {
		List<FaultType> faults = new ArrayList<>();
		switch (store) {
			case REDIS, REDIS_CLUSTER -> {
				faults.addAll((tier == Tier.S) ? NodeFaults.durable(lease) : NodeFaults.notDurable(lease));
				faults.addAll(RedisFaults.safe(lease));
				faults.add(Credentials.redis(lease));
			}
			case REDIS_SENTINEL -> {
				if (tier == Tier.S) {
					faults.addAll(NodeFaults.durable(lease));
					faults.addAll(RedisFaults.safe(lease));
				}
				else {
					// whatever stops the master for long is a failover
					faults.addAll(RedisFaults.connections(lease));
				}
			}
			case REDIS_QUORUM -> {
				faults.addAll(QuorumFaults.safe(lease));
				faults.addAll(RedisFaults.safe(lease));
				faults.add(Credentials.redis(lease));
			}
			case POSTGRES -> {
				faults.addAll(NodeFaults.durable(lease));
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
		if (store == StoreType.REDIS_CLUSTER) {
			faults.addAll(ClusterFaults.safe(lease));
		}
		return faults;
	}

	private static List<FaultType> losing(Bed bed) {
		List<FaultType> faults = new ArrayList<>();
		switch (bed.store().type()) {
			case REDIS, REDIS_CLUSTER, REDIS_QUORUM -> faults.addAll(RedisFaults.losing(bed.lease()));
			case REDIS_SENTINEL -> faults.addAll(SentinelFaults.losing(bed.lease()));
			case POSTGRES -> {
				faults.addAll(SqlFaults.postgres().losing());
				faults.add(SqlFaults.promotion(bed.lease()));
			}
			case MARIADB -> faults.addAll(SqlFaults.mariaDb().losing());
		}
		bed.storeClock().ifPresent((clock) -> faults.add(NodeFaults.clockStep(bed.lease())));
		return faults;
	}

}
