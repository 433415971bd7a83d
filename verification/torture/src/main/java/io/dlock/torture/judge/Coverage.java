package io.dlock.torture.judge;

/**
 * How much of what an invariant says was looked at.
 *
 * @param judged how often a violation would have been told
 * @param excused how often it would not: a fault or the machine may have been the reason
 */
public record Coverage(long judged, long excused) {

	static final Coverage NONE = new Coverage(0, 0);

	/**
	 * The part that was excused.
	 * @return a number from 0 to 1
	 */
	public double excusedShare() {
		return (this.excused > 0) ? (double) this.excused / (this.judged + this.excused) : 0;
	}

	/**
	 * Put those of another run to these.
	 * @param other the other
	 * @return both
	 */
	public Coverage plus(Coverage other) {
		return new Coverage(this.judged + other.judged, this.excused + other.excused);
	}

}
