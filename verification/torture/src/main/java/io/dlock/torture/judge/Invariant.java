package io.dlock.torture.judge;

import java.util.Map;

/**
 * The conditions that have to hold.
 */
public enum Invariant {

	/** Holds of a key that both say they are valid do not overlap. */
	I1("valid holds overlap", true, false),

	/** The resource takes no write with a token lower than it has seen. */
	I2("stale write taken", true, true),

	/**
	 * A token is higher than all that were granted before. Where the store loses data,
	 * this holds for the tokens that the store granted; excused if its clock was set back
	 * and it then lost data.
	 */
	I3("token does not rise", true, true),

	/** A hold has one token, and no two have the same. */
	I4("token shared or changed", true, true),

	/** No fenced update is lost. */
	I5("fenced update lost", true, true),

	/** A loss is known in time. */
	I6("loss known late", true, true),

	/** A lock that no client holds is free after a lease. */
	I7("orphaned lock", true, true),

	/**
	 * A lock is available again soon after its holder died, and after the store healed.
	 */
	I8("slow recovery", true, false),

	/** No call takes longer than it says. */
	I9("call too long", true, true),

	/** No released lock is busy, no call fails for no reason. */
	I10("false outcome", true, false),

	/** Nothing is left over. */
	I11("leak", true, true),

	/** The history of each key is one of a fenced lock with leases. */
	I12("not linearizable", true, false),

	/** No waiting call is overtaken without end. Reported, not judged. */
	I13("starvation", false, false),

	/** A key that no other client uses is always available. */
	I14("disturbed by other keys", true, false),

	/**
	 * Each process has locks again soon after the store can be used by clients that
	 * connect anew, and its turns again soon after its messages got lost.
	 */
	I15("not back in time", true, true),

	/** The locks leave the application beside them its connections. */
	I16("application disturbed", true, true),

	/** Transfers between accounts that are locked together conserve the money. */
	I17("money made or lost", true, true),

	/** A fair lock is given in the order of the calls. */
	I18("order inverted", true, true),

	/** Answers that need no speed to be right. */
	I19("wrong answer", true, true),

	/** No held lock is called lost. */
	I20("false loss", true, false);

	static final int BRIEF_CASES = 500;

	private static final int BRIEF_LOSSES = 20;

	private static final int FEW_BRIEF_CASES = 100;

	private static final int FAIR_CASES = 30;

	private static final int TRANSFERS = 100;

	private static final int BRIEF_TRANSFERS = 20;

	private final String title;

	private final boolean zero;

	private final boolean zeroIfLossy;

	Invariant(String title, boolean zero, boolean zeroIfLossy) {
		this.title = title;
		this.zero = zero;
		this.zeroIfLossy = zeroIfLossy;
	}

	public String title() {
		return this.title;
	}

	/**
	 * The part that may be excused before a run proves nothing.
	 * @return a part, from 0 to 1
	 */
	public double mostExcused() {
		return switch (this) {
			case I1, I2, I4, I5, I12, I17, I19 -> 0;
			case I3 -> 0.05;
			case I6, I9 -> 0.1;
			case I7, I8, I10, I14, I20 -> 0.75;
			default -> 1;
		};
	}

	/**
	 * The number of cases that a run has to judge, whatever the share of the others: of
	 * fair calls, for which most faults are an excuse, those of the calm end, in which a
	 * store of tier L may hold a lease of another time; of the recoveries one, if the run
	 * has all faults, of which those of Sentinels restore nothing while they last; some
	 * transfers; of the others those of a brief run, which is under some fault almost all
	 * the time.
	 * @param options what the run was asked to do
	 * @return a number
	 */
	public int leastJudged(Map<String, String> options) {
		if (this == I18) {
			return (Run.isAsked(options, "fair") && !"L".equals(options.get("tier"))) ? FAIR_CASES : 0;
		}
		if (this == I17 && Run.isAsked(options, "transfers")) {
			return Run.isBrief(options) ? BRIEF_TRANSFERS : TRANSFERS;
		}
		if (Run.isBrief(options)) {
			return leastJudgedInBriefRun();
		}
		boolean recovers = this == I8 || (this == I15 && !"REDIS_SENTINEL".equals(options.get("store")));
		return (recovers && "all".equals(options.get("only"))) ? 1 : 0;
	}

	private int leastJudgedInBriefRun() {
		return switch (this) {
			case I6 -> BRIEF_LOSSES;
			case I7, I10, I14 -> FEW_BRIEF_CASES;
			case I11, I20 -> 1;
			default -> isAlwaysJudged() ? BRIEF_CASES : 0;
		};
	}

	/**
	 * Whether each run judges it; the others need something that does not always happen.
	 * @return whether a run without it proves nothing
	 */
	boolean isAlwaysJudged() {
		return switch (this) {
			case I1, I2, I3, I4, I5, I6, I9, I10, I11, I12, I14, I20 -> true;
			default -> false;
		};
	}

	/**
	 * Whether a violation fails a run.
	 * @param lossy whether the store lost what it had acknowledged, or its clock stepped
	 * @return whether it must not happen; otherwise it is only counted
	 */
	public boolean mustHold(boolean lossy) {
		return lossy ? this.zeroIfLossy : this.zero;
	}

}
