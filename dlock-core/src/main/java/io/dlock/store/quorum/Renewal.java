package io.dlock.store.quorum;

import java.util.ArrayList;
import java.util.List;

import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;

/**
 * The renewal of several leases, one batch for each node. A lease is renewed if a
 * majority has renewed it. A node that lacks it then gets it again.
 */
final class Renewal {

	private final Quorum quorum;

	private final List<Ballot> ballots;

	private final List<RenewCommand> leases;

	/**
	 * Create a renewal.
	 * @param quorum the nodes
	 * @param leases their leases, in the same order
	 */
	Renewal(Quorum quorum, List<Ballot> ballots, List<RenewCommand> leases) {
		this.quorum = quorum;
		this.ballots = ballots;
		this.leases = leases;
	}

	List<RenewResult> results() {
		List<RenewCommand> commands = new ArrayList<>(this.leases.size());
		for (int i = 0; i < this.leases.size(); i++) {
			RenewCommand lease = this.leases.get(i);
			commands.add(new RenewCommand(lease.key(), this.ballots.get(i).owner(), lease.lease()));
		}
		long begin = this.quorum.now();
		Round<List<RenewResult>> round = this.quorum.renew(commands, this::suffice);
		List<RenewResult> results = new ArrayList<>(this.leases.size());
		for (int i = 0; i < this.leases.size(); i++) {
			RenewResult result = result(round, i);
			results.add(result);
			if (result == RenewResult.RENEWED) {
				this.ballots.get(i).renewed(begin + this.quorum.reliableNanos(this.leases.get(i).lease()));
			}
		}
		round.whenAnswered((node, answers) -> fillUp(node, answers, results));
		return results;
	}

	private boolean suffice(Round<List<RenewResult>> round) {
		if (round.answers().size() < this.quorum.votes()) {
			return false;
		}
		for (int i = 0; i < this.leases.size(); i++) {
			if (result(round, i) == RenewResult.UNKNOWN) {
				return false;
			}
		}
		return true;
	}

	private RenewResult result(Round<List<RenewResult>> round, int index) {
		int renewed = round.count((results) -> results.get(index) == RenewResult.RENEWED);
		if (renewed >= this.quorum.votes()) {
			return RenewResult.RENEWED;
		}
		int refused = round.count((results) -> results.get(index) == RenewResult.REFUSED);
		int most = this.quorum.nodes().size() - refused;
		return (most < this.quorum.votes()) ? RenewResult.REFUSED : RenewResult.UNKNOWN;
	}

	/**
	 * Called for every answer, including those that arrive after the majority is known.
	 */
	private void fillUp(int node, List<RenewResult> answers, List<RenewResult> results) {
		for (int i = 0; i < answers.size(); i++) {
			if (answers.get(i) == RenewResult.REFUSED && results.get(i) == RenewResult.RENEWED) {
				Ballot ballot = this.ballots.get(i);
				ballot.votes()
					.get(node)
					.fillUp(ballot.nodeCommand(this.leases.get(i).lease(), null), ballot.token(),
							() -> ballot.isHeld() && !ballot.isOver(this.quorum.now()));
			}
		}
	}

}
