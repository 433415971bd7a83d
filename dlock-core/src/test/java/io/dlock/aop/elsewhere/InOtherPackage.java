package io.dlock.aop.elsewhere;

import io.dlock.DistributedLocked;

/**
 * Its method cannot be overridden in other packages.
 */
public class InOtherPackage {

	@DistributedLocked
	void run() {
	}

}
