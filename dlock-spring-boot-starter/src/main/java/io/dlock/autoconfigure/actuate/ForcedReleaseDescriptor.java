package io.dlock.autoconfigure.actuate;

/**
 * The outcome of a forced release, or the reason why a request was refused.
 *
 * @param outcome {@code released}, {@code not-held}, {@code other-token}, {@code off},
 * {@code unauthorized}, {@code unsupported}, {@code invalid}, {@code hidden} or
 * {@code failed}
 * @param released the number of locks that were released
 * @param message the meaning of the outcome
 * @since 0.1
 */
public record ForcedReleaseDescriptor(String outcome, int released, String message) {

}
