package io.dlock.autoconfigure.actuate;

import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.dlock.console.LockConsole;
import io.dlock.console.LockList;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The answers to operators.
 */
class ForcedReleaseHandlerTests {

	private final LockConsole console = mock();

	private final ForcedReleaseHandler releases = new ForcedReleaseHandler(this.console,
			new DlocksEndpointProperties(Show.ALWAYS, Set.of(), 100, Show.ALWAYS, Set.of()),
			new ForcedReleaseAudit((event) -> {
			}));

	private String answer(boolean complete) {
		given(this.console.forceReleaseAll("other")).willReturn(new LockList(List.of(), complete, null));
		WebEndpointResponse<ForcedReleaseDescriptor> response = this.releases.releaseAll(SecurityContext.NONE, "other");
		assertThat(response.getStatus()).isEqualTo(404);
		return response.getBody().message();
	}

	@Test
	void r55OperatorIsToldToAskAgainIfNotAllLocksWereLookedAt() {
		assertThat(answer(false))
			.isEqualTo("No lock is held by other. Not all locks of the store were looked at: ask again");
		assertThat(answer(true)).isEqualTo("No lock is held by other");
	}

	@Test
	void r55ReleaseOfAnInstanceThatFailsIsAFailure() {
		given(this.console.forceReleaseAll("other")).willReturn(new LockList(List.of(), false, "no answer"));
		WebEndpointResponse<ForcedReleaseDescriptor> response = this.releases.releaseAll(SecurityContext.NONE, "other");
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getBody().outcome()).isEqualTo("failed");
		assertThat(response.getBody().message()).contains("no answer");
	}

}
