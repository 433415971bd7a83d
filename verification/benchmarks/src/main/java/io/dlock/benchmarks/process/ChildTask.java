package io.dlock.benchmarks.process;

import java.util.List;

/**
 * A task of a child.
 */
@FunctionalInterface
interface ChildTask {

	ChildReport run(List<String> arguments, Parent parent) throws Exception;

}
