/**
 * The locks for operators: a health indicator and an actuator endpoint.
 */
@NullMarked
package io.dlock.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
