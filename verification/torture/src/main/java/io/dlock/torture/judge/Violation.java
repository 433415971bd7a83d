package io.dlock.torture.judge;

/**
 * An invariant that was broken.
 *
 * @param invariant the invariant
 * @param nanos when, by the clock of the histories
 * @param text how
 */
public record Violation(Invariant invariant, long nanos, String text) {

}
