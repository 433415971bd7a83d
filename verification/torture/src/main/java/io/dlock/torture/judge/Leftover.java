package io.dlock.torture.judge;

import java.util.Map;

/**
 * How much of something there was, from before the campaign until after it.
 *
 * @param what what
 * @param phases how much {@code before} the first client, when the clients were
 * {@code ready} for their first lock, when they were {@code idle} after the last, and
 * when the locks were {@code closed} or the clients {@code gone}; those that are known
 */
public record Leftover(String what, Map<String, Long> phases) {

}
