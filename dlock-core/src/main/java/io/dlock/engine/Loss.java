package io.dlock.engine;

import io.dlock.LossType;

/**
 * How a lock is lost.
 *
 * @param type for metrics
 * @param reason for people
 */
record Loss(LossType type, String reason) {

}
