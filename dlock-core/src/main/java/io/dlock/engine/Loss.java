package io.dlock.engine;

import io.dlock.LossType;

/**
 * The cause of a loss.
 *
 * @param type the type, for metrics
 * @param reason the reason, for messages
 */
record Loss(LossType type, String reason) {

}
