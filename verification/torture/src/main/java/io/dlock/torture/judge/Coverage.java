package io.dlock.torture.judge;

/**
 * The share of the cases of an invariant that was judged.
 *
 * @param judged the number of cases in which a violation would have been told
 * @param excused the number of cases in which it would not: a fault or the machine may
 * have been the reason
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
	 * Add the coverage of another run to this one.
	 * @param other the other
	 * @return the sum
	 */
	public Coverage plus(Coverage other) {
		return new Coverage(this.judged + other.judged, this.excused + other.excused);
	}

}
