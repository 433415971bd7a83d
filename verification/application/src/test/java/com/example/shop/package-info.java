/**
 * A shop that uses what Spring puts around a method, and locks.
 */
@org.jspecify.annotations.NullMarked
package com.example.shop;
