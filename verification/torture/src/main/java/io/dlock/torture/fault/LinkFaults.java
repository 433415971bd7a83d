package io.dlock.torture.fault;

import java.time.Duration;
import java.util.List;

import io.dlock.test.TcpProxy;

/**
 * Faults of the network. The nemesis switches the proxies back to normal at the end of
 * each.
 */
final class LinkFaults {

	/**
	 * The time between two of the same kind, in which connections are opened again.
	 */
	private static final Duration AGAIN = Duration.ofMillis(120);

	/**
	 * A request has at most some 900 bytes, a reply some 100.
	 */
	private static final Range REQUEST_BYTES = Range.of(0, 400);

	private static final Range REPLY_BYTES = Range.of(0, 60);

	private LinkFaults() {
	}

	/**
	 * List the faults.
	 * @param scope whose network: that of clients or that of nodes
	 */
	static List<FaultType> all(Duration lease, Scope scope) {
		Range once = Range.times(lease, 0.3, 2);
		Range delay = Range.times(lease, 0.1, 2);
		Range loss = Range.times(lease, 0.3, 2.5);
		Range replies = Range.of(1, 4);
		return List.of(
				FaultType.safe("F8", "refuse", Scope.LINKS, LinkFaults::refuse).lasting(Range.times(lease, 0.2, 1.5)),
				FaultType.safe("F9", "delay-replies", scope, LinkFaults::delayReplies).lasting(once).amounting(delay),
				FaultType.safe("F9", "delay-requests", scope, LinkFaults::delayRequests).lasting(once).amounting(delay),
				FaultType.safe("F9", "slow", Scope.LINKS, LinkFaults::slow)
					.lasting(loss)
					.amounting(Range.times(lease, 0.01, 0.12)),
				FaultType.safe("F10", "drop-replies", scope, LinkFaults::dropReplies).lasting(once).amounting(replies),
				FaultType.safe("F10", "drop-replies", Scope.LINKS, LinkFaults::dropAllReplies)
					.lasting(once)
					.amounting(replies),
				FaultType.safe("F11", "cut-requests", scope, LinkFaults::cutRequests)
					.lasting(once)
					.amounting(REQUEST_BYTES),
				FaultType.safe("F11", "cut-replies", scope, LinkFaults::cutReplies)
					.lasting(once)
					.amounting(REPLY_BYTES),
				FaultType.safe("F11", "reset", Scope.LINKS, LinkFaults::reset).lasting(once),
				FaultType.safe("F12", "black-hole", scope, LinkFaults::blackHole).lasting(loss),
				FaultType.safe("F12", "black-hole-requests", scope, LinkFaults::blackHoleRequests).lasting(loss),
				FaultType.safe("F12", "black-hole-replies", scope, LinkFaults::blackHoleReplies).lasting(loss),
				FaultType.safe("F12", "discard", scope, LinkFaults::discard).lasting(loss),
				FaultType.safe("F12", "black-hole", Scope.LINKS, LinkFaults::blackHoleAll)
					.lasting(Range.times(lease, 0.3, 1.5)));
	}

	/**
	 * F34: the connections on which a client is told that it has its turn are silent, and
	 * nothing else is: a client that notices connects again.
	 * @param scope the network: that of clients or that of nodes
	 */
	static FaultType silentSubscription(Scope scope) {
		return FaultType.safe("F34", "silent-subscription", scope, LinkFaults::silenceSubscriptions)
			.lasting(Range.of(20_000, 25_000));
	}

	private static void silenceSubscriptions(Infliction fault) throws InterruptedException {
		fault.effect("silent=" + fault.link().silence("SUBSCRIBE", "LISTEN "));
		fault.hold();
	}

	private static void refuse(Infliction fault) throws InterruptedException {
		fault.bed().links().forEach((link) -> {
			link.refuse(true);
			link.cutAll();
		});
		fault.hold();
	}

	private static void delayReplies(Infliction fault) throws InterruptedException {
		fault.link().delayReplies(fault.amountMillis());
		fault.hold();
	}

	private static void delayRequests(Infliction fault) throws InterruptedException {
		fault.link().delayRequests(fault.amountMillis());
		fault.hold();
	}

	private static void slow(Infliction fault) throws InterruptedException {
		fault.bed().links().forEach((link) -> link.delayReplies(fault.amountMillis()));
		fault.hold();
	}

	private static void dropReplies(Infliction fault) throws InterruptedException {
		do {
			fault.link().dropReplies((int) fault.amount());
		}
		while (fault.pause(AGAIN));
	}

	private static void dropAllReplies(Infliction fault) throws InterruptedException {
		do {
			fault.bed().links().forEach((link) -> link.dropReplies((int) fault.amount()));
		}
		while (fault.pause(AGAIN));
	}

	/**
	 * Cuts one byte later each time.
	 */
	private static void cutRequests(Infliction fault) throws InterruptedException {
		int bytes = (int) fault.amount();
		do {
			fault.link().cutRequestsAfter(bytes++);
		}
		while (fault.pause(AGAIN));
	}

	private static void cutReplies(Infliction fault) throws InterruptedException {
		int bytes = (int) fault.amount();
		do {
			fault.link().cutRepliesAfter(bytes++);
		}
		while (fault.pause(AGAIN));
	}

	private static void reset(Infliction fault) throws InterruptedException {
		do {
			fault.bed().links().forEach(TcpProxy::cutAll);
		}
		while (fault.pause(AGAIN));
	}

	private static void blackHole(Infliction fault) throws InterruptedException {
		fault.link().blackHole(true);
		fault.hold();
	}

	private static void blackHoleRequests(Infliction fault) throws InterruptedException {
		fault.link().blackHoleRequests(true);
		fault.hold();
	}

	private static void blackHoleReplies(Infliction fault) throws InterruptedException {
		fault.link().blackHoleReplies(true);
		fault.hold();
	}

	/**
	 * The bytes that were sent are lost for good: no connection can be used afterwards.
	 */
	private static void discard(Infliction fault) throws InterruptedException {
		fault.link().discard(true);
		fault.hold();
		fault.link().cutAll();
	}

	private static void blackHoleAll(Infliction fault) throws InterruptedException {
		fault.bed().links().forEach((link) -> link.blackHole(true));
		fault.hold();
	}

}
