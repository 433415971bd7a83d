/**
 * Real clients and servers, a seeded nemesis between them, and a judge.
 */
@NullMarked
package io.dlock.torture;

import org.jspecify.annotations.NullMarked;
