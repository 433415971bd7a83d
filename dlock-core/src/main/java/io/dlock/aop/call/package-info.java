/**
 * One call of a locked method: acquire, run, release, and tell the outcome. Internal.
 * {@code LockedMethodInvoker} is the entrance; start reading at {@code LockedCall}, which
 * has the rules, and {@code BlockingCall}, the simplest of the three ways to wait. Knows
 * keys, transactions, observations and {@code io.dlock}, and nothing of annotations.
 */
@NullMarked
package io.dlock.aop.call;

import org.jspecify.annotations.NullMarked;
