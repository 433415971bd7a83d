package io.dlock.aop.call;

/**
 * The event that ends the work of a locked method.
 */
public enum ReturnKind {

	/** The work is done when the method returns. */
	VALUE,

	/** The work is done when the returned stage completes. */
	STAGE,

	/** As {@link #STAGE}, for a method that {@code @Async} runs on the calling thread. */
	STAGE_OF_ASYNC,

	/**
	 * The work begins with a subscription to the returned publisher, and ends with it.
	 */
	PUBLISHER

}
