package io.dlock.benchmarks.process;

import java.util.List;

/**
 * What a child does.
 */
@FunctionalInterface
interface ChildTask {

	ChildReport run(List<String> arguments, Parent parent) throws Exception;

}
