/**
 * Real servers and network faults for the tests of the library.
 */
@NullMarked
package io.dlock.test;

import org.jspecify.annotations.NullMarked;
