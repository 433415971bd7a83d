/**
 * Locks by the majority of several independent stores. Start reading at
 * {@link QuorumLockStore}; the soundness argument is in {@code docs/quorum.md}. Knows the
 * SPI only: a node is any store that is {@link io.dlock.store.QuorumCapable}.
 */
@NullMarked
package io.dlock.store.quorum;

import org.jspecify.annotations.NullMarked;
