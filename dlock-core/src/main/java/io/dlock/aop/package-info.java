/**
 * From the annotation to the call: how a {@link io.dlock.DistributedLocked} method is
 * found, checked and intercepted. Start reading at
 * {@link io.dlock.aop.DistributedLockedBeanPostProcessor} and
 * {@code LockedOperationParser}; {@code io.dlock.aop.call} runs what they have read.
 * Knows the packages below it, transactions, observations and {@code io.dlock}.
 */
@NullMarked
package io.dlock.aop;

import org.jspecify.annotations.NullMarked;
