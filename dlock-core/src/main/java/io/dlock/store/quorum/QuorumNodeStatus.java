package io.dlock.store.quorum;

/**
 * The state of a node, as this process last found it.
 *
 * @param name the store in one line
 * @param answering whether it answered the last command
 * @param voting whether it votes; {@code false} during its quarantine
 * @param calls the number of commands so far
 * @param failures the number of commands without an answer so far
 * @since 0.1
 */
public record QuorumNodeStatus(String name, boolean answering, boolean voting, long calls, long failures) {

}
