/**
 * The keys of locked methods: how an expression is checked, evaluated and made text.
 * Internal. Start reading at {@code LockKey}. Knows {@code io.dlock} and SpEL, and
 * nothing of calls.
 */
@NullMarked
package io.dlock.aop.key;

import org.jspecify.annotations.NullMarked;
