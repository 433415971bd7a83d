package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.redis.connection.RedisConnections;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class LettuceLockStoreIntegrationTests extends AbstractRedisLockStoreTests {

	@Override
	Duration longestCall() {
		return TIMEOUT.multipliedBy(7).dividedBy(4);
	}

	/**
	 * A client that repeats commands without an answer does so when it is connected
	 * again: no caller may wait then, and the revocation may be over. (Two requests,
	 * because the client drops the first of its queue in any case.)
	 */
	@Test
	void r50AcquireOfAnInterruptedThreadIsNotSentAgain() throws Exception {
		granted(acquire("warm-up", LEASE));
		assertThat(store().release(key(), "warm-up")).isTrue();
		proxy().blackHole(true);
		interruptedAcquire(key() + "/first");
		interruptedAcquire(key());
		proxy().cutAll();
		proxy().blackHole(false);
		Awaitility.await().ignoreException(StoreException.class).until(() -> {
			granted(acquire("b", LEASE));
			return true;
		});
	}

	/**
	 * Nor is the command of a thread that still waits: a broken connection is an answer.
	 */
	@Test
	void r50AcquireOnAConnectionThatBreaksIsNotSentAgain() {
		RedisConnectionFactory factory = createApplicationFactory("127.0.0.1", proxy().port());
		try (RedisLockStore patient = new RedisLockStore(factory,
				RedisLockStoreSettings.defaults().withCommandTimeout(Duration.ofSeconds(10)))) {
			assertThat(patient.release(key(), "warm-up")).isFalse();
			proxy().blackHoleReplies(true);
			List<CompletableFuture<StoreException>> failures = Stream.of(key() + "/first", key())
				.map((key) -> CompletableFuture.supplyAsync(
						() -> catchThrowableOfType(StoreException.class,
								() -> patient.acquire(new AcquireCommand(key, "a", LEASE, "holder", ""))),
						(task) -> new Thread(task).start()))
				.toList();
			Awaitility.await().until(() -> isLockedOnServer(key() + "/first") && isLockedOnServer(key()));
			proxy().cutAll();
			proxy().blackHoleReplies(false);
			assertThat(failures)
				.allSatisfy((failure) -> assertThat(failure).succeedsWithin(Duration.ofSeconds(20)).isNotNull());
		}
		finally {
			destroy(factory);
		}
	}

	private boolean isLockedOnServer(String key) {
		AtomicBoolean locked = new AtomicBoolean();
		onServer((connection) -> locked.set(connection.keyCommands().exists(RedisKeys.of("dlock", key).lock())));
		return locked.get();
	}

	/**
	 * Redis is there all the time, so that a try that is told of an outage is told
	 * wrongly. A command that is under way when the connection breaks may fail.
	 */
	@Test
	void acquireWaitsForAConnectionThatIsOpenedAgain() {
		granted(acquire("warm-up", LEASE));
		assertThat(store().release(key(), "warm-up")).isTrue();
		for (int i = 0; i < 3; i++) {
			String owner = "owner " + i;
			proxy().delayReplies(Duration.ofMillis(100));
			proxy().cutAll();
			Awaitility.await().until(() -> isGrantedUnlessItWasSent(owner));
			proxy().delayReplies(Duration.ZERO);
			assertThat(store().release(key(), owner)).isTrue();
		}
	}

	/**
	 * The socket of a connection is closed before the connection knows, which takes long
	 * on a busy machine.
	 */
	@Test
	void acquireIsSentAgainIfTheClientHasRejectedIt() throws Exception {
		Semaphore closed = new Semaphore(0);
		ClientResources resources = ClientResources.builder().nettyCustomizer(new NettyCustomizer() {

			@Override
			public void afterChannelInitialized(Channel channel) {
				channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {

					@Override
					public void channelInactive(ChannelHandlerContext context) throws Exception {
						closed.release();
						LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
						super.channelInactive(context);
					}

				});
			}

		}).build();
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", proxy().port()),
				LettuceClientConfiguration.builder().clientResources(resources).build());
		factory.afterPropertiesSet();
		factory.start();
		try (RedisLockStore store = new RedisLockStore(factory, patient())) {
			AcquireCommand command = new AcquireCommand(key(), "a", LEASE, "holder", "");
			assertThat(store.acquire(command)).isInstanceOf(Granted.class);
			proxy().cutAll();
			closed.acquire();
			assertThat(store.acquire(command)).isInstanceOf(Granted.class);
			proxy().cutAll();
			closed.acquire();
			assertThat(store.acquireAll(List.of(command))).hasOnlyElementsOfType(Granted.class);
		}
		finally {
			factory.destroy();
			resources.shutdown(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
		}
	}

	@Test
	void releaseIsNotSentAtOnceWhileTheConnectionIsOpenedAgain() {
		granted(acquire("a", LEASE));
		proxy().blackHole(true);
		proxy().cutAll();
		Awaitility.await().until(() -> !store().releaseAsync(key(), "a", (failure) -> {
		}));
		proxy().blackHole(false);
		Awaitility.await().ignoreException(StoreException.class).until(() -> store().release(key(), "a"));
		granted(acquire("b", LEASE));
	}

	/**
	 * The network forgets a connection that was idle for long. Without a wait for the
	 * answer, the lock would stay taken.
	 */
	@Test
	void releaseSentIntoTheVoidIsTold() {
		try (RedisLockStore impatient = impatient()) {
			impatient.acquire(new AcquireCommand(key(), "a", LEASE, "holder", ""));
			proxy().blackHole(true);
			CompletableFuture<StoreException> told = new CompletableFuture<>();
			assertThat(impatient.releaseAsync(key(), "a", told::complete)).isTrue();
			assertThat(told).succeedsWithin(Patience.EVENTUALLY)
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
			proxy().blackHole(false);
		}
	}

	private boolean isGrantedUnlessItWasSent(String owner) {
		try {
			granted(acquire(owner, LEASE));
			return true;
		}
		catch (StoreException ex) {
			assertThat(ex.effect()).as(ex.getMessage()).isEqualTo(Effect.UNKNOWN);
			return false;
		}
	}

	private void interruptedAcquire(String key) {
		CompletableFuture<StoreException> failure = new CompletableFuture<>();
		AtomicBoolean flag = new AtomicBoolean();
		Thread thread = new Thread(() -> {
			try {
				store().acquire(new AcquireCommand(key, "a", LEASE, "holder", ""));
			}
			catch (StoreException ex) {
				flag.set(Thread.currentThread().isInterrupted());
				failure.complete(ex);
			}
		});
		thread.start();
		thread.interrupt();
		assertThat(failure).succeedsWithin(Duration.ofSeconds(10))
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN))
			.satisfies((ex) -> assertThat(ex.isPermanent()).isFalse());
		assertThat(flag).as("the flag is kept").isTrue();
	}

	@Test
	void memberIsReleasedWithoutAWait() {
		List<StoreException> failures = new CopyOnWriteArrayList<>();
		granted(acquire("+a", LEASE));
		assertThat(store().release(key(), "+a")).isTrue();
		granted(acquire("+b", LEASE));
		assertThat(store().releaseAsync(key(), "+b", failures::add)).isTrue();
		granted(acquire("x", LEASE));
		assertThat(failures).isEmpty();
	}

	/**
	 * With the connection the renewals of others would be cut off.
	 */
	@Test
	void r30RefusalsAreAnswersAndKeepTheConnection() {
		granted(acquire("warm-up", LEASE));
		assertThat(store().release(key(), "warm-up")).isTrue();
		List<String> before = connections();
		assertThat(before).isNotEmpty();
		onServer((connection) -> connection.stringCommands()
			.set(RedisKeys.of("dlock", key()).lock(), "something else".getBytes(StandardCharsets.UTF_8)));
		for (int i = 0; i < 10; i++) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire("a", LEASE))
				.withMessageContaining("WRONGTYPE");
		}
		assertThat(connections()).containsAll(before);
	}

	@Test
	void r30InterruptsOfOneThreadKeepTheConnectionOfAll() throws Exception {
		granted(acquire("warm-up", LEASE));
		assertThat(store().release(key(), "warm-up")).isTrue();
		proxy().resetCounters();
		proxy().blackHoleReplies(true);
		CompletableFuture<AcquireResult> other = CompletableFuture.supplyAsync(() -> acquire("a", LEASE));
		Awaitility.await().until(() -> proxy().roundTrips() > 0);
		for (int i = 0; i < 20; i++) {
			interruptedAcquire(key() + "/interrupted");
		}
		proxy().blackHoleReplies(false);
		granted(other.get());
	}

	/**
	 * The ids of those of all stores.
	 */
	private List<String> connections() {
		List<String> ids = new ArrayList<>();
		onServer((connection) -> connection.serverCommands()
			.getClientList()
			.stream()
			.filter((client) -> "dlock".equals(client.getName()))
			.forEach((client) -> ids.add(client.get("id"))));
		return ids;
	}

	@Test
	void releaseReportsThatItIsSentBeforeItIsAnswered() throws Exception {
		granted(acquire("a", LEASE));
		proxy().blackHoleReplies(true);
		CountDownLatch sent = new CountDownLatch(1);
		CompletableFuture<Boolean> released = CompletableFuture
			.supplyAsync(() -> store().release(key(), "a", sent::countDown));
		assertThat(sent.await(Patience.COMMAND.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
		assertThat(released).isNotDone();
		proxy().cutAll();
		assertThat(released).failsWithin(Patience.COMMAND)
			.withThrowableThat()
			.withCauseInstanceOf(StoreException.class);
	}

	@Test
	void closingTheStoreLeavesTheResourcesOfTheApplicationRunning() {
		ClientResources resources = ClientResources.create();
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", proxy().port()),
				LettuceClientConfiguration.builder().clientResources(resources).build());
		try {
			factory.afterPropertiesSet();
			RedisLockStore closed = new RedisLockStore(factory, patient());
			closed.verify();
			closed.close();
			assertThat(resources.eventExecutorGroup().isShuttingDown()).isFalse();
			assertThat(resources.timer().newTimeout((timeout) -> {
			}, 0, TimeUnit.SECONDS)).isNotNull();
			try (RedisLockStore next = new RedisLockStore(factory, patient())) {
				granted(next.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			}
		}
		finally {
			factory.destroy();
			resources.shutdown(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
		}
	}

	@Override
	RedisConnectionFactory createConnectionFactory(String host, int port) {
		return LettuceFactories.create(host, port);
	}

	@Override
	RedisConnectionFactory createClusterConnectionFactory(String host, int port) {
		return LettuceFactories.create(new RedisClusterConfiguration(List.of(host + ":" + port)));
	}

	@Override
	RedisConnectionFactory createSentinelConnectionFactory(RedisSentinelConfiguration configuration) {
		return LettuceFactories.create(configuration);
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		((LettuceConnectionFactory) factory).destroy();
	}

	/**
	 * Beats go out on a connection that was there before. The container of Spring Data
	 * tries to connect again and again on the thread that starts it.
	 */
	@Test
	void subscriptionThatCannotBeOpenedAgainCanBeClosed() {
		try (RedisLockStore store = impatient()) {
			Mailbox mailbox = Awaitility.await()
				.ignoreException(StoreException.class)
				.until(() -> store.openMailbox(MailboxAddress.create(Duration.ofSeconds(9)), (key) -> {
				}), Objects::nonNull);
			long first = published();
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> published() > first);
			proxy().refuse(true);
			killSubscriptions();
			long before = published();
			int beats = 3 * RedisConnections.BEATS_IN_SILENCE;
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> published() >= before + beats);
			assertThat(CompletableFuture.runAsync(mailbox::close)).succeedsWithin(Patience.EVENTUALLY);
		}
		finally {
			proxy().heal();
		}
	}

	/**
	 * The store has a connection for commands and gets no other, as at the limit of
	 * clients.
	 */
	@Test
	void subscriptionWithoutAConnectionIsGivenUp() {
		MailboxAddress failed = MailboxAddress.create(Duration.ofSeconds(9));
		try (RedisLockStore store = impatient()) {
			proxy().refuse(true);
			CompletableFuture<?> opening = CompletableFuture.runAsync(() -> open(store, failed));
			try {
				assertThat(opening).failsWithin(Patience.EVENTUALLY)
					.withThrowableThat()
					.havingCause()
					.isInstanceOfSatisfying(StoreException.class, (ex) -> assertThat(ex.isPermanent()).isFalse());
			}
			finally {
				proxy().heal();
			}
			assertThat(store.inspection().diagnose().warnings()).as("it is no refusal")
				.noneMatch((warning) -> warning.contains("poll"));
			assertThatIsNotSubscribed(store, failed);
		}
	}

}
