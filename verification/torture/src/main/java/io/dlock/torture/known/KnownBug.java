package io.dlock.torture.known;

/**
 * A known bug of a peer.
 */
interface KnownBug {

	/**
	 * Which peer, with which settings, and what is wrong.
	 * @return a line
	 */
	String title();

	/**
	 * Something of the peer, for its version.
	 * @return a class in its jar
	 */
	Class<?> peer();

	/**
	 * Try it on the peer.
	 * @param scene the servers
	 * @return what happened
	 * @throws Exception if it cannot be tried
	 */
	Evidence onPeer(Scene scene) throws Exception;

	/**
	 * Try it on us.
	 * @param scene the servers
	 * @return what happened
	 * @throws Exception if it cannot be tried
	 */
	Evidence onOurs(Scene scene) throws Exception;

	/**
	 * The observation.
	 *
	 * @param reproduced whether the bug is there
	 * @param text what was seen
	 */
	record Evidence(boolean reproduced, String text) {

		@Override
		public String toString() {
			return (this.reproduced ? "reproduced: " : "not reproduced: ") + this.text;
		}

	}

}
