package io.dlock.torture.client;

/**
 * The application has no connection left (F27).
 */
final class Exhaustion implements Affliction {

	private final Application application;

	Exhaustion(Application application) {
		this.application = application;
	}

	@Override
	public Effect suffer(Dose dose) {
		long total = 0;
		long begin = System.nanoTime();
		try (Application.Usage usage = this.application.exhaust(dose.left())) {
			long last = begin;
			while (dose.pause()) {
				long now = System.nanoTime();
				total += usage.isTotal() ? now - last : 0;
				last = now;
			}
		}
		return new Effect(0,
				"exhausted=%dms of %dms".formatted(total / 1_000_000, (System.nanoTime() - begin) / 1_000_000));
	}

}
