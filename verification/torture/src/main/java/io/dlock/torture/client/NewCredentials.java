package io.dlock.torture.client;

/**
 * The application learns of another password (F33). The amount is its number, zero for
 * the first.
 *
 * @param application the application
 * @param first the first password
 */
record NewCredentials(Application application, String first) implements Affliction {

	@Override
	public Effect suffer(Dose dose) {
		this.application.rotate((dose.amount() != 0) ? this.first + "-" + dose.amount() : this.first);
		return new Effect(0, "rotated");
	}

}
