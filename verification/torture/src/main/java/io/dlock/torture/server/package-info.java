/**
 * The stores under test, as processes.
 */
@NullMarked
package io.dlock.torture.server;

import org.jspecify.annotations.NullMarked;
