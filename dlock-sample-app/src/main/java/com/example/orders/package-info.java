/**
 * An order service whose instances share one stock: the sample application of dlock.
 */
@NullMarked
package com.example.orders;

import org.jspecify.annotations.NullMarked;
