package io.dlock.store.redis.connection;

import java.util.ArrayList;
import java.util.List;

import io.dlock.store.redis.connection.LettuceChannels.NoLateHandshake;
import io.lettuce.core.protocol.ConnectionWatchdog;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Tests for the handshakes of {@link LettuceChannels}. Lettuce closes a channel whose
 * handshake is too slow, and may call it active all the same. Which of the two comes
 * first on a real connection is a race.
 */
class LettuceChannelsTests {

	private final EmbeddedChannel channel = new EmbeddedChannel();

	private final List<String> told = new ArrayList<>();

	private void add() {
		this.channel.pipeline()
			.addLast(new NoLateHandshake(), new Recorder(), mock(ConnectionWatchdog.class, "watchdog"));
	}

	private boolean isWatched() {
		return this.channel.pipeline().get(ConnectionWatchdog.class) != null;
	}

	@Test
	void channelThatIsClosedDoesNotBecomeActive() {
		this.channel.close();
		add();
		this.channel.pipeline().fireChannelActive();
		assertThat(this.told).isEmpty();
	}

	@Test
	void endOfAChannelThatWasNeverActiveIsNoReasonToConnectAgain() {
		add();
		this.channel.pipeline().fireChannelInactive();
		assertThat(this.told).containsExactly("inactive");
		assertThat(isWatched()).isFalse();
	}

	@Test
	void endOfAnActiveChannelIsAReasonToConnectAgain() {
		add();
		this.channel.pipeline().fireChannelActive();
		this.channel.pipeline().fireChannelInactive();
		assertThat(this.told).containsExactly("active", "inactive");
		assertThat(isWatched()).isTrue();
	}

	private final class Recorder extends ChannelInboundHandlerAdapter {

		@Override
		public void channelActive(ChannelHandlerContext context) throws Exception {
			LettuceChannelsTests.this.told.add("active");
			super.channelActive(context);
		}

		@Override
		public void channelInactive(ChannelHandlerContext context) throws Exception {
			LettuceChannelsTests.this.told.add("inactive");
			super.channelInactive(context);
		}

	}

}
