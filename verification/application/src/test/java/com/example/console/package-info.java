/**
 * The console in a real browser.
 */
@NullMarked
package com.example.console;

import org.jspecify.annotations.NullMarked;
