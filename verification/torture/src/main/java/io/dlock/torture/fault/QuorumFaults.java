package io.dlock.torture.fault;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.dlock.test.TcpProxy;
import io.dlock.torture.server.ServerNode;

/**
 * Faults of stores that vote. Their nodes keep nothing on disk: each restart is one
 * without the data.
 */
final class QuorumFaults {

	private static final int MINORITY = 2;

	private QuorumFaults() {
	}

	static List<FaultType> safe(Duration lease) {
		return List.of(NodeFaults.pause(lease),
				FaultType.safe("F36", "minority-is-cut-off", Scope.LINKS, QuorumFaults::cutOff)
					.lasting(Range.times(lease, 1, 5))
					.amounting(Range.of(0, 4)));
	}

	static List<FaultType> forgetting(Duration lease) {
		return List.of(forgets("node-forgets", lease, 1), forgets("minority-forgets", lease, MINORITY),
				forgets("all-forget", lease, Integer.MAX_VALUE),
				FaultType.losing("F35", "all-forget-one-by-one", Scope.NODE, QuorumFaults::restartEach)
					.lasting(Range.times(lease, 1, 3)));
	}

	/**
	 * The clock of the first node jumps by less than the longest lease, so that tokens
	 * rise even if all nodes forget meanwhile. Leases that the node gave while its clock
	 * was ahead are as long as that.
	 */
	static FaultType wrongClock(Duration lease, Tier tier) {
		FaultType fault = (tier == Tier.S)
				? FaultType.safe("F18", "wrong-clock", Scope.LINKS_AND_STORE_CLOCK, QuorumFaults::jump)
				: FaultType.losing("F18", "wrong-clock", Scope.LINKS_AND_STORE_CLOCK, QuorumFaults::jump);
		return fault.lasting(Range.times(lease, 1, 4))
			.amounting(Range.times(lease, -1, 1.9))
			.recoveringWithin(lease.multipliedBy(4));
	}

	/**
	 * The first scenario of Kleppmann (2016): three nodes give a lock while two are cut
	 * off; then the clock of one of the three jumps, and the two are back.
	 */
	private static void jump(Infliction fault) throws InterruptedException {
		ClockOffset clock = fault.bed().storeClock().orElseThrow();
		List<TcpProxy> links = fault.bed().links();
		List<TcpProxy> others = links.subList(links.size() - MINORITY, links.size());
		others.forEach((link) -> link.blackHole(true));
		fault.pause(Duration.ofMillis(fault.millis()).dividedBy(2));
		clock.set(fault.amountMillis());
		others.forEach(TcpProxy::heal);
		fault.hold();
		clock.set(Duration.ZERO);
	}

	private static FaultType forgets(String name, Duration lease, int many) {
		return FaultType.losing("F35", name, Scope.NODE, (fault) -> restart(fault, many))
			.lasting(Range.times(lease, 0.5, 3));
	}

	private static void restart(Infliction fault, int many) throws InterruptedException {
		List<ServerNode> nodes = fault.bed().store().nodes();
		List<ServerNode> chosen = IntStream.range(0, Math.min(many, nodes.size()))
			.mapToObj((i) -> nodes.get((fault.target() + i) % nodes.size()))
			.toList();
		chosen.forEach(ServerNode::kill);
		fault.hold();
		chosen.forEach(ServerNode::restart);
	}

	/**
	 * A careless roll-out: no node waits for the one before to vote again.
	 */
	private static void restartEach(Infliction fault) throws InterruptedException {
		List<ServerNode> nodes = fault.bed().store().nodes();
		for (ServerNode node : nodes) {
			node.kill();
			node.restart();
			fault.pause(Duration.ofMillis(fault.millis()).dividedBy(nodes.size()));
		}
	}

	private static void cutOff(Infliction fault) throws InterruptedException {
		List<TcpProxy> links = fault.bed().links();
		Stream<TcpProxy> minority = IntStream.range(0, MINORITY)
			.mapToObj((i) -> links.get(((int) fault.amount() + i) % links.size()));
		minority.forEach((link) -> link.blackHole(true));
		fault.hold();
	}

}
