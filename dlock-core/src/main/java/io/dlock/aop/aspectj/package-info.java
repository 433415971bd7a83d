/**
 * Calls of locked methods that AspectJ weaves. {@code DistributedLockedAspect} is woven
 * into applications; the rest is internal, and {@code WovenMethods} is the only other
 * entrance. Knows nothing of locks: an application context says how a call is made.
 */
@NullMarked
package io.dlock.aop.aspectj;

import org.jspecify.annotations.NullMarked;
