/**
 * What the clients saw, written so that it survives their death.
 */
@NullMarked
package io.dlock.torture.history;

import org.jspecify.annotations.NullMarked;
