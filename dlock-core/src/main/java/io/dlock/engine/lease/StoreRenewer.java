package io.dlock.engine.lease;

import java.util.Collections;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;

/**
 * Calls the store to renew leases.
 */
final class StoreRenewer {

	private static final Log logger = LogFactory.getLog(StoreRenewer.class);

	private final LockStore store;

	StoreRenewer(LockStore store) {
		this.store = store;
	}

	/**
	 * Call the store once. Every lease gets an answer, also if the call fails.
	 * @param sent the time of the call
	 * @return the answers, in the order of the leases
	 */
	List<RenewResult> renew(List<Lease> leases, Moment sent) {
		leases.forEach((lease) -> lease.renewing(sent));
		try {
			List<RenewResult> results = this.store.renew(leases.stream()
				.map((lease) -> new RenewCommand(lease.key(), lease.owner(), lease.length()))
				.toList());
			if (results.size() == leases.size()) {
				return results;
			}
			throw new IllegalStateException(results.size() + " answers to " + leases.size() + " renewals");
		}
		catch (Throwable ex) {
			logger.debug("The renewal of " + leases.size() + " locks failed and will be repeated", ex);
			return Collections.nCopies(leases.size(), RenewResult.UNKNOWN);
		}
	}

}
