package io.dlock.aop;

import java.lang.reflect.Method;
import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

import io.dlock.PermitRegistry;

/**
 * Reads the values of attributes, which may have placeholders, and refuses those that
 * mean nothing.
 *
 * @param resolver replaces the placeholders
 */
record AttributeValues(StringValueResolver resolver) {

	/**
	 * An attribute that is there but blank would silently be another lock.
	 */
	String text(String value, String attribute, Method method) {
		if (value.contains("#{") || (value.startsWith("#") && !isExpression(attribute))) {
			throw new InvalidLockedMethodException(method,
					"has the %s '%s', in which only ${…} is replaced".formatted(attribute, value),
					isExpression(attribute) ? "A key is an expression itself: write \"#id\", not \"#{#id}\""
							: "Say in the key of a @DistributedLocked what depends on the arguments, such as key = \"#id\"",
					null);
		}
		String text = resolve(value, attribute, method);
		if (!value.isEmpty() && !StringUtils.hasText(text)) {
			throw new InvalidLockedMethodException(method,
					"has the %s '%s', which is blank%s".formatted(attribute, value,
							value.isBlank() ? "" : " when its placeholders are replaced"),
					"Give it a text, or leave it out", null);
		}
		return text;
	}

	private static boolean isExpression(String attribute) {
		return attribute.startsWith("key");
	}

	@Nullable Duration duration(String value, String attribute, boolean zeroAllowed, Method method) {
		String text = resolve(value, attribute, method).trim();
		if (text.isEmpty()) {
			return null;
		}
		Duration duration = parseDuration(text, attribute, method);
		if (duration.isNegative() || (duration.isZero() && !zeroAllowed)) {
			throw new InvalidLockedMethodException(method, "has the %s '%s', which is not %s".formatted(attribute, text,
					zeroAllowed ? "zero or more" : "more than zero"), "Use a duration like \"30s\"", null);
		}
		return duration;
	}

	private static Duration parseDuration(String text, String attribute, Method method) {
		boolean bareNumber = text.chars().noneMatch(Character::isLetter);
		try {
			if (!bareNumber) {
				return DurationFormatterUtils.detectAndParse(text);
			}
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLockedMethodException(method,
					"has the %s '%s', which is no duration".formatted(attribute, text),
					"Use a duration like \"30s\", \"500ms\" or \"PT1M\"", ex);
		}
		throw new InvalidLockedMethodException(method, "has the %s '%s', which has no unit".formatted(attribute, text),
				"Add one: \"" + text + "s\" or \"" + text + "ms\"", null);
	}

	/**
	 * Read the limit of a method.
	 * @param value the value of the attribute
	 * @throws InvalidLockedMethodException if it is no number or out of range
	 */
	int limit(String value, Method method) {
		String text = resolve(value, "limit", method).trim();
		try {
			int limit = Integer.parseInt(text);
			if (limit >= 1 && limit <= PermitRegistry.MAX_PERMITS) {
				return limit;
			}
		}
		catch (NumberFormatException ex) {
			throw wrongLimit(text, method, ex);
		}
		throw wrongLimit(text, method, null);
	}

	private static InvalidLockedMethodException wrongLimit(String text, Method method, @Nullable Exception cause) {
		return new InvalidLockedMethodException(method,
				"has the limit '%s', which is not a number from 1 to %d".formatted(text, PermitRegistry.MAX_PERMITS),
				"Use a number like \"3\", or a placeholder like \"${exports.limit:3}\"", cause);
	}

	String resolve(String value, String attribute, Method method) {
		if (value.isEmpty()) {
			return value;
		}
		try {
			String resolved = this.resolver.resolveStringValue(value);
			return (resolved != null) ? resolved : "";
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLockedMethodException(method,
					"has the %s '%s', which cannot be resolved: %s".formatted(attribute, value, ex.getMessage()),
					"Define the property, or give it a default: ${property:default}", ex);
		}
	}

}
