/**
 * Auto-configuration of dlock for Spring Boot.
 */
@NullMarked
package io.dlock.autoconfigure;

import org.jspecify.annotations.NullMarked;
