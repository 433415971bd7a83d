package io.dlock.store.quorum;

/**
 * The state of a node, as this process has met it last.
 *
 * @param name the store in one line
 * @param answering whether it answered the last command
 * @param voting whether it votes; {@code false} while its data is too new
 * @param calls the number of commands so far
 * @param failures the number of commands without an answer so far
 * @since 0.1
 */
public record QuorumNodeStatus(String name, boolean answering, boolean voting, long calls, long failures) {

}
