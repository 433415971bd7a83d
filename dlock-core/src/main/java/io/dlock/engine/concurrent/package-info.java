/**
 * The clocks of this machine, deadlines and alarms that are read from them, and the
 * threads of a registry. Internal. Start reading at {@code EngineThreads}. Knows nothing
 * of locks.
 */
@NullMarked
package io.dlock.engine.concurrent;

import org.jspecify.annotations.NullMarked;
