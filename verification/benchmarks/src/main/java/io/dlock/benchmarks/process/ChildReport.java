package io.dlock.benchmarks.process;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.zip.DataFormatException;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * The measurements of a child, one line of JSON.
 *
 * @param figures the figures by name
 * @param latencies a compressed histogram of nanoseconds, or {@code null}
 * @param error the last failure, or {@code null}
 */
public record ChildReport(Map<String, Double> figures, @Nullable String latencies, @Nullable String error) {

	static ChildReport of(Map<String, Double> figures) {
		return new ChildReport(figures, null, null);
	}

	static ChildReport of(Map<String, Double> figures, Histogram latencies, @Nullable Exception error) {
		ByteBuffer buffer = ByteBuffer.allocate(latencies.getNeededByteBufferCapacity());
		int length = latencies.encodeIntoCompressedByteBuffer(buffer);
		String encoded = Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
		return new ChildReport(figures, encoded, (error != null) ? error.toString() : null);
	}

	static ChildReport parse(String json) {
		return JsonMapper.shared().readValue(json, ChildReport.class);
	}

	String toJson() {
		return JsonMapper.shared().writeValueAsString(this);
	}

	public double figure(String name) {
		Double figure = this.figures.get(name);
		if (figure == null) {
			throw new IllegalArgumentException("No figure '" + name + "' in " + this.figures.keySet());
		}
		return figure;
	}

	public Histogram histogram() {
		if (this.latencies == null) {
			throw new IllegalStateException("No latencies were measured");
		}
		try {
			ByteBuffer buffer = ByteBuffer.wrap(Base64.getDecoder().decode(this.latencies));
			return Histogram.decodeFromCompressedByteBuffer(buffer, 0);
		}
		catch (DataFormatException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
