package io.dlock.torture.fault;

/**
 * The effect that a fault may have on the promises: after one of tier S (safe) all of
 * them hold, after one of tier L (loss) the store has lost what it had acknowledged or
 * its clock, and valid holds may overlap.
 */
public enum Tier {

	S, L

}
