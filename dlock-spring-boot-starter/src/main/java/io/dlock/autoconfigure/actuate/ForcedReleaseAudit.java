package io.dlock.autoconfigure.actuate;

import java.util.LinkedHashMap;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Who wanted to take a lock away from its holder, and what became of it: as an audit
 * event, and in the log.
 */
final class ForcedReleaseAudit {

	static final String TYPE = "DLOCK_FORCED_RELEASE";

	private static final Log logger = LogFactory.getLog(DlocksEndpoint.class);

	private final ApplicationEventPublisher publisher;

	ForcedReleaseAudit(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	/**
	 * Write down a request.
	 * @param principal who asked, or {@code null} if nobody knows
	 * @param key the key as it is stored
	 * @param token the token that was expected
	 * @param holder who held the lock before, or {@code null}
	 * @param outcome what became of it
	 */
	void add(@Nullable String principal, String key, long token, @Nullable String holder, String outcome) {
		String who = (principal != null) ? principal.replaceAll("\\p{Cntrl}", " ") : "unknown";
		logger.warn("Forced release of lock '" + key + "' (token " + token + ", held by "
				+ ((holder != null) ? holder : "nobody known") + "), asked for by '" + who + "': " + outcome);
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("key", key);
		data.put("token", Long.toString(token));
		if (holder != null) {
			data.put("holder", holder);
		}
		data.put("outcome", outcome);
		try {
			this.publisher.publishEvent(new AuditApplicationEvent(who, TYPE, data));
		}
		catch (RuntimeException ex) {
			logger.warn("The forced release of lock '" + key + "' could not be written to the audit trail", ex);
		}
	}

}
