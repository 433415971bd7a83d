/**
 * Micrometer observations of the calls of locked methods. An application configures
 * {@code LockObservations} and may define a {@code LockCallConvention};
 * {@code CallObservation} and {@code CallObservations}, where to start reading, are for
 * {@code io.dlock.aop}. Knows {@code io.dlock} only.
 */
@NullMarked
package io.dlock.observation;

import org.jspecify.annotations.NullMarked;
