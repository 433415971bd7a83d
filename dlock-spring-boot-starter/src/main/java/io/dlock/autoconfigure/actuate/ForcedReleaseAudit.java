package io.dlock.autoconfigure.actuate;

import java.util.LinkedHashMap;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Records the requests for a forced release, their callers and outcomes: as audit events,
 * and in the log.
 */
final class ForcedReleaseAudit {

	static final String TYPE = "DLOCK_FORCED_RELEASE";

	private static final Log logger = LogFactory.getLog(ForcedReleaseAudit.class);

	private final ApplicationEventPublisher publisher;

	ForcedReleaseAudit(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	/**
	 * Record a request.
	 * @param principal the caller, or {@code null} if it is not known
	 * @param key the key as it is stored
	 * @param token the expected token
	 * @param holder the holder before the request, or {@code null}
	 */
	void add(@Nullable String principal, String key, long token, @Nullable String holder, String outcome) {
		String caller = caller(principal);
		logger.warn("Forced release of lock '" + key + "' (token " + token + ", held by "
				+ ((holder != null) ? holder : "an unknown holder") + "), asked for by '" + caller + "': " + outcome);
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("key", key);
		data.put("token", Long.toString(token));
		if (holder != null) {
			data.put("holder", holder);
		}
		data.put("outcome", outcome);
		publish(caller, data);
	}

	/**
	 * Record a request for all locks of an instance.
	 * @param principal the caller, or {@code null} if it is not known
	 * @param instance the name of the instance
	 * @param released the number of locks that were released
	 */
	void addInstance(@Nullable String principal, String instance, int released, String outcome) {
		String caller = caller(principal);
		String name = printable(instance);
		logger.warn("Forced release of all locks of " + name + ", asked for by '" + caller + "': " + outcome + ", "
				+ released + " released");
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("instance", name);
		data.put("released", released);
		data.put("outcome", outcome);
		publish(caller, data);
	}

	private static String caller(@Nullable String principal) {
		return (principal != null) ? printable(principal) : "unknown";
	}

	private static String printable(String text) {
		return text.replaceAll("\\p{Cntrl}", " ");
	}

	private void publish(String caller, Map<String, Object> data) {
		try {
			this.publisher.publishEvent(new AuditApplicationEvent(caller, TYPE, data));
		}
		catch (RuntimeException ex) {
			logger.warn("A forced release could not be written to the audit trail: " + data, ex);
		}
	}

}
