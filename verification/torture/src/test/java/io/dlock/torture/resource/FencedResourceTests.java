package io.dlock.torture.resource;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryReader;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.resource.ResourceClient.Account;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Tests for {@link FencedResource} and {@link ResourceClient}.
 */
@Timeout(60)
class FencedResourceTests {

	private static final Origin ONE = new Origin(0, 0, 1, 7);

	private static final Origin OTHER = new Origin(1, 0, 1, 7);

	@TempDir
	private Path directory;

	@Test
	void staleTokensAreRejectedAndEverythingIsWrittenDown() throws Exception {
		Path log = this.directory.resolve("resource.log");
		try (FencedResource resource = new FencedResource(0, log)) {
			start(resource);
			try (ResourceClient one = new ResourceClient(resource.port());
					ResourceClient other = new ResourceClient(resource.port())) {
				assertThat(one.readFenced(ONE, 10).value()).isZero();
				// a read with a higher token shuts the other out, before any write
				assertThat(other.readFenced(OTHER, 11)).isEqualTo(new Reply(true, 0, 11));
				assertThat(one.writeFenced(ONE, 10, 1)).isEqualTo(new Reply(false, 0, 11));
				assertThat(other.writeFenced(OTHER, 11, 1)).isEqualTo(new Reply(true, 1, 11));
				assertThat(one.writeUnfenced(ONE, 5).accepted()).isTrue();
				assertThat(other.readUnfenced(OTHER).value()).isEqualTo(5);
			}
		}
		assertThat(HistoryReader.readAll(log)).extracting(HistoryRecord::event)
			.containsExactly(Event.FENCED_READ, Event.FENCED_READ, Event.FENCED_REJECTED, Event.FENCED_WRITE,
					Event.UNFENCED_WRITE, Event.UNFENCED_READ);
	}

	@Test
	void keysAreIndependent() throws Exception {
		try (FencedResource resource = new FencedResource(0, this.directory.resolve("resource.log"))) {
			start(resource);
			try (ResourceClient client = new ResourceClient(resource.port())) {
				client.writeFenced(ONE, 10, 3);
				assertThat(client.writeFenced(new Origin(0, 0, 2, 8), 9, 1)).isEqualTo(new Reply(true, 1, 9));
			}
		}
	}

	@Test
	void transferWritesBothAccountsOrNone() throws Exception {
		Path log = this.directory.resolve("resource.log");
		Origin from = new Origin(0, 0, 1, 40_000);
		Origin to = new Origin(0, 0, 2, 40_001);
		try (FencedResource resource = new FencedResource(0, log)) {
			start(resource);
			try (ResourceClient client = new ResourceClient(resource.port())) {
				assertThat(client.transfer(new Account(from, 10, 0), new Account(to, 5, 0), 30))
					.isEqualTo(new Reply(true, -30, 10));
				client.readFenced(to, 6);
				assertThat(client.transfer(new Account(from, 11, -30), new Account(to, 5, 30), 10).accepted())
					.isFalse();
				assertThat(client.transfer(new Account(from, 9, -30), new Account(to, 6, 30), 10).accepted()).isFalse();
				assertThat(client.readFenced(from, 10)).isEqualTo(new Reply(true, -30, 10));
				assertThat(client.readFenced(to, 6)).isEqualTo(new Reply(true, 30, 6));
			}
		}
		assertThat(HistoryReader.readAll(log)).filteredOn((entry) -> entry.event() == Event.TRANSFER)
			.extracting(HistoryRecord::key)
			.containsExactly(40_000, 40_001);
		assertThat(HistoryReader.readAll(log)).filteredOn((entry) -> entry.event() == Event.FENCED_REJECTED)
			.extracting(HistoryRecord::key, HistoryRecord::token)
			.containsExactly(tuple(40_001, 5L), tuple(40_000, 9L));
	}

	private static void start(FencedResource resource) {
		Thread thread = new Thread(resource::run);
		thread.setDaemon(true);
		thread.start();
	}

}
