/**
 * Micrometer observations of calls of locked methods.
 */
@NullMarked
package io.dlock.observation;

import org.jspecify.annotations.NullMarked;
