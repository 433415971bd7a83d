package io.dlock.engine;

import java.time.Duration;

/**
 * The lease that a request asks for. A lease is passed on to requests with equal terms
 * only.
 *
 * @param lease the length of the lease
 * @param renewed whether the lease is renewed
 */
record LeaseTerms(Duration lease, boolean renewed) {

}
