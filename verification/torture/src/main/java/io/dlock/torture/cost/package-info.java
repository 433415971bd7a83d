/**
 * The costs of each topology: {@link io.dlock.torture.cost.FailoverCosts} is the program.
 */
@NullMarked
package io.dlock.torture.cost;

import org.jspecify.annotations.NullMarked;
