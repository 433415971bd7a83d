package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.protocol.ConnectionWatchdog;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

import io.dlock.store.redis.connection.LettuceChannels.UnansweredTimeout;
import io.dlock.store.redis.connection.LettuceChannels.NoLateHandshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

/**
 * Tests for the handshakes and the timeout of {@link LettuceChannels}. Lettuce closes a
 * channel whose handshake is too slow, and may call it active all the same. Which of the
 * two comes first on a real connection is a race.
 */
class LettuceChannelsTests {

	private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(1);

	private final EmbeddedChannel channel = new EmbeddedChannel();

	private final List<String> told = new ArrayList<>();

	private final Handshake handshake = new Handshake();

	private final ConnectionWatchdog watchdog = mock();

	private void add() {
		this.channel.pipeline().addLast(new NoLateHandshake(this.handshake), new Recorder(), this.watchdog);
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
	void failureOfTheHandshakeOfAClosedChannelIsNoReasonToConnectAgain() {
		add();
		this.channel.pipeline().fireChannelInactive();
		this.handshake.fail(new IllegalStateException("too slow"));
		then(this.watchdog).should(never()).scheduleReconnect();
	}

	/**
	 * Its commands fail as the channel is closed, which comes before the failure of the
	 * handshake. No attempt follows a successful one.
	 */
	@Test
	void successOfTheHandshakeOfAClosedChannelIsAReasonToConnectAgain() {
		add();
		this.handshake.succeed();
		this.channel.pipeline().fireChannelInactive();
		then(this.watchdog).should().scheduleReconnect();
	}

	@Test
	void successOfTheHandshakeAfterTheEndOfItsChannelIsAReasonToConnectAgain() {
		add();
		this.channel.pipeline().fireChannelInactive();
		then(this.watchdog).should(never()).scheduleReconnect();
		this.handshake.succeed();
		then(this.watchdog).should().scheduleReconnect();
	}

	@Test
	void endOfAnActiveChannelIsAReasonToConnectAgain() {
		add();
		this.channel.pipeline().fireChannelActive();
		this.channel.pipeline().fireChannelInactive();
		assertThat(this.told).containsExactly("active", "inactive");
		assertThat(isWatched()).isTrue();
	}

	private void addTimeout() {
		this.channel.pipeline().addLast(new UnansweredTimeout(ANSWER_TIMEOUT));
		this.channel.freezeTime();
	}

	private void send() {
		assertThat(this.channel.writeOutbound("command")).isTrue();
	}

	private void waitOnce() {
		this.channel.advanceTimeBy(ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
		this.channel.runScheduledPendingTasks();
	}

	@Test
	void channelThatAnswersNothingIsClosed() {
		addTimeout();
		send();
		waitOnce();
		send();
		assertThat(this.channel.isOpen()).isTrue();
		waitOnce();
		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void channelThatAnswersStays() {
		addTimeout();
		for (int i = 0; i < 10; i++) {
			send();
			waitOnce();
			assertThat(this.channel.writeInbound("answer")).isTrue();
			send();
		}
		assertThat(this.channel.isOpen()).isTrue();
	}

	@Test
	void channelThatHasNothingToAnswerStays() {
		addTimeout();
		send();
		waitOnce();
		assertThat(this.channel.writeInbound("answer")).isTrue();
		waitOnce();
		waitOnce();
		assertThat(this.channel.isOpen()).isTrue();
		send();
		waitOnce();
		waitOnce();
		assertThat(this.channel.isOpen()).isFalse();
	}

	private static final class Handshake extends RedisHandshakeHandler {

		Handshake() {
			super((channel) -> new CompletableFuture<>(), mock(), Duration.ofMinutes(1));
		}

		@Override
		public void succeed() {
			super.succeed();
		}

		void fail(Throwable cause) {
			channelInitialized().toCompletableFuture().completeExceptionally(cause);
		}

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
