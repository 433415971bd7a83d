package io.dlock.autoconfigure;

/**
 * Says that the context is a test slice, whose locks are in memory.
 */
final class TestSlice {

}
