/**
 * Micrometer observations of the calls of locked methods. An application configures
 * {@code LockObservationSettings} and may define a {@code LockCallObservationConvention};
 * {@code CallObservation} and {@code CallObservationFactory}, where to start reading, are
 * for {@code io.dlock.aop}. Knows {@code io.dlock} only.
 */
@NullMarked
package io.dlock.observation;

import org.jspecify.annotations.NullMarked;
