package io.dlock.torture.client;

/**
 * All contenders by name.
 */
final class Contenders {

	private Contenders() {
	}

	/**
	 * Connect a contender.
	 * @param options who and where
	 * @return the contender
	 */
	static Contender connect(ClientOptions options) {
		return switch (options.contender()) {
			case "dlock" -> DlockContender.connect(options.store(), options.lease(), options.instance());
			default -> throw new IllegalArgumentException("No contender '" + options.contender() + "'");
		};
	}

}
