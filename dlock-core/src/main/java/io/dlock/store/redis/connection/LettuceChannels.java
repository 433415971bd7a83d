package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.protocol.ConnectionWatchdog;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.lettuce.core.pubsub.PubSubCommandHandler;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.timeout.ReadTimeoutHandler;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The behaviour of Lettuce's sockets. Commands that several threads send at once go out
 * in one system call. A subscription that hears nothing is closed, so that Lettuce opens
 * it again and subscribes again. So is a connection to a node of a cluster that answers
 * nothing.
 *
 * @param application the customizer of the application, or {@code null}
 * @param longestSilence the time for which a subscription may hear nothing
 * @param answerTimeout the time between two looks at a node that answers nothing, or
 * {@code null} if there is no cluster
 */
record LettuceChannels(@Nullable NettyCustomizer application, Duration longestSilence,
		@Nullable Duration answerTimeout) implements NettyCustomizer {

	private static final Log logger = LogFactory.getLog(LettuceChannels.class);

	@Override
	public void afterBootstrapInitialized(Bootstrap bootstrap) {
		if (this.application != null) {
			this.application.afterBootstrapInitialized(bootstrap);
		}
	}

	@Override
	public void afterChannelInitialized(Channel channel) {
		if (this.application != null) {
			this.application.afterChannelInitialized(channel);
		}
		channel.pipeline()
			.addFirst(new FlushConsolidationHandler(FlushConsolidationHandler.DEFAULT_EXPLICIT_FLUSH_AFTER_FLUSHES,
					true));
		ChannelHandlerContext handshake = channel.pipeline().context(RedisHandshakeHandler.class);
		if (handshake != null) {
			channel.pipeline()
				.addAfter(handshake.name(), null, new NoLateHandshake((RedisHandshakeHandler) handshake.handler()));
		}
		if (channel.pipeline().get(PubSubCommandHandler.class) != null) {
			channel.pipeline().addFirst(new EndOfSilence(this.longestSilence));
		}
		else if (this.answerTimeout != null) {
			channel.pipeline().addFirst(new UnansweredTimeout(this.answerTimeout));
		}
	}

	/**
	 * Keeps a channel that is closed during its handshake from being called active.
	 * Lettuce does not count the commands that fail with such a channel as a failure. Its
	 * watchdog then connects again beside the next attempt, which leaves a second
	 * connection with a second subscription that nothing closes. If the channel is closed
	 * before the handshake has failed, Lettuce takes the handshake for successful and
	 * makes no other attempt.
	 */
	static final class NoLateHandshake extends ChannelInboundHandlerAdapter {

		private final RedisHandshakeHandler handshake;

		private boolean active;

		NoLateHandshake(RedisHandshakeHandler handshake) {
			this.handshake = handshake;
		}

		@Override
		public void channelActive(ChannelHandlerContext context) throws Exception {
			this.active = context.channel().isActive();
			if (this.active) {
				super.channelActive(context);
			}
		}

		@Override
		@SuppressWarnings("FutureReturnValueIgnored") // nothing is to be done after a
														// failure
		public void channelInactive(ChannelHandlerContext context) throws Exception {
			if (!this.active && context.pipeline().get(ConnectionWatchdog.class) != null) {
				ConnectionWatchdog watchdog = context.pipeline().remove(ConnectionWatchdog.class);
				this.handshake.channelInitialized().thenRun(watchdog::scheduleReconnect);
			}
			super.channelInactive(context);
		}

	}

	/**
	 * Closes a channel that answers nothing. It looks from time to time, as long as there
	 * is something to be answered, and closes the channel at the second look in vain.
	 */
	static final class UnansweredTimeout extends ChannelDuplexHandler {

		private final Duration answerTimeout;

		/** Something was sent, and nothing has come since. */
		private boolean unanswered;

		/** It was so at the last look. */
		private boolean suspect;

		private boolean watched;

		UnansweredTimeout(Duration answerTimeout) {
			this.answerTimeout = answerTimeout;
		}

		@Override
		public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
			this.unanswered = true;
			watch(context);
			super.write(context, message, promise);
		}

		@Override
		public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
			this.unanswered = false;
			this.suspect = false;
			super.channelRead(context, message);
		}

		@SuppressWarnings("FutureReturnValueIgnored") // it ends by itself
		private void watch(ChannelHandlerContext context) {
			if (!this.watched) {
				this.watched = true;
				context.executor().schedule(() -> look(context), this.answerTimeout.toMillis(), TimeUnit.MILLISECONDS);
			}
		}

		@SuppressWarnings("FutureReturnValueIgnored") // nothing is to be done after it
		private void look(ChannelHandlerContext context) {
			this.watched = false;
			if (!this.unanswered || !context.channel().isActive()) {
				return;
			}
			if (!this.suspect) {
				this.suspect = true;
				watch(context);
				return;
			}
			logger.info("Redis node " + context.channel().remoteAddress() + " answered nothing for "
					+ this.answerTimeout.toMillis() + " ms: it is connected to again");
			context.close();
		}

	}

	private static final class EndOfSilence extends ReadTimeoutHandler {

		private final Duration longestSilence;

		EndOfSilence(Duration longestSilence) {
			super(longestSilence.toMillis(), TimeUnit.MILLISECONDS);
			this.longestSilence = longestSilence;
		}

		@Override
		@SuppressWarnings("FutureReturnValueIgnored") // nothing is to be done after it
		protected void readTimedOut(ChannelHandlerContext context) {
			logger.info("The Redis subscription for released locks received nothing for "
					+ this.longestSilence.toMillis() + " ms: it is opened again");
			context.close();
		}

	}

}
