package io.dlock.aop.elsewhere;

import io.dlock.DistributedLocked;

/**
 * Its method can not be overridden in other packages.
 */
public class InOtherPackage {

	@DistributedLocked
	void run() {
	}

}
