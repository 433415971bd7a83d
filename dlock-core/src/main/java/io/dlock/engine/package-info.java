/**
 * The engine: local queues, acquisition, validity, renewal, revocation and shutdown. Only
 * {@link io.dlock.engine.LeaseLockRegistry} is for use outside.
 */
@NullMarked
package io.dlock.engine;

import org.jspecify.annotations.NullMarked;
