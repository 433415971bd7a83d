package io.dlock.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * Remembers what becomes of leases.
 */
final class LeftoversOfTests implements LocalQueues.Leftovers {

	final List<Lease> ended = new ArrayList<>();

	final List<Lease> givenBack = new ArrayList<>();

	@Override
	public void endOf(Lease lease) {
		this.ended.add(lease);
	}

	@Override
	public void giveBack(Lease lease, boolean inBackground, Runnable then) {
		this.givenBack.add(lease);
		then.run();
	}

}
