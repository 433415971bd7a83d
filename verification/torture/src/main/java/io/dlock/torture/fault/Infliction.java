package io.dlock.torture.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.dlock.test.TcpProxy;
import io.dlock.torture.server.LimitedDisk;
import io.dlock.torture.server.RedisAdmin;
import io.dlock.torture.server.RedisClusterStore;
import io.dlock.torture.server.RedisUnderTest;
import io.dlock.torture.server.ReplicatedRedis;
import io.dlock.torture.server.ServerNode;
import io.dlock.torture.server.SqlStore;

/**
 * A fault that happens just now.
 */
public final class Infliction {

	private final Bed bed;

	private final PlannedFault fault;

	private final CountDownLatch healing;

	private final Timeline timeline;

	private final long end;

	private String effect = "";

	private int keys;

	private final List<String> violations = new ArrayList<>();

	Infliction(Bed bed, PlannedFault fault, CountDownLatch healing, Timeline timeline) {
		this.bed = bed;
		this.fault = fault;
		this.healing = healing;
		this.timeline = timeline;
		this.end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(fault.duration());
	}

	Bed bed() {
		return this.bed;
	}

	long amount() {
		return this.fault.amount();
	}

	Duration amountMillis() {
		return Duration.ofMillis(this.fault.amount());
	}

	long millis() {
		return this.fault.duration();
	}

	Bed.TorturedClient client() {
		return this.bed.clients().get(this.fault.target());
	}

	/**
	 * Kill the client, and write down when.
	 */
	void killClient() {
		this.timeline.kill(this.fault);
		client().kill();
	}

	TcpProxy link() {
		return this.bed.links().get(this.fault.target());
	}

	ServerNode node() {
		return this.bed.store().nodes().get(this.fault.target());
	}

	/**
	 * The administrator of a master.
	 */
	RedisAdmin admin() throws IOException {
		return redis().processes().admin(redis().master(this.fault.target()));
	}

	List<RedisAdmin> admins() {
		return IntStream.range(0, this.bed.store().nodes().size())
			.mapToObj((node) -> redis().processes().admin(node))
			.toList();
	}

	RedisAdmin anotherAdmin() throws IOException {
		return redis().processes().anotherAdmin(redis().master(this.fault.target()));
	}

	int target() {
		return this.fault.target();
	}

	private RedisUnderTest redis() {
		return (RedisUnderTest) this.bed.store();
	}

	ReplicatedRedis replicated() {
		return (ReplicatedRedis) this.bed.store();
	}

	RedisClusterStore cluster() {
		return (RedisClusterStore) this.bed.store();
	}

	SqlStore sql() {
		return (SqlStore) this.bed.store();
	}

	LimitedDisk disk() {
		return this.bed.store().disk().orElseThrow();
	}

	/**
	 * Let the client do it to itself, until that is over.
	 * @param name what
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	void afflict(String name) throws InterruptedException {
		String[] answer = tell(client(), name, millis(), amount());
		this.keys = Integer.parseInt(answer[0]);
		this.effect = " " + answer[1];
	}

	/**
	 * Let all clients do something, one after the other.
	 * @param name the name of the action
	 * @param amount the amount of it
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	void tellAll(String name, long amount) throws InterruptedException {
		for (Bed.TorturedClient client : this.bed.everyClient()) {
			tell(client, name, 0, amount);
		}
	}

	private String[] tell(Bed.TorturedClient client, String name, long millis, long much) throws InterruptedException {
		int number = this.fault.number();
		String[] answer = client
			.ask("AFFLICT %d %s %d %d".formatted(number, name, millis, much), "AFFLICTED " + number + " ")
			.split(" ", 2);
		if (answer[0].equals("FAILED")) {
			throw new IllegalStateException(answer[1]);
		}
		return answer;
	}

	/**
	 * Locking is possible again from now on, though not everything is as it was: the
	 * judge counts from here.
	 */
	void restored() {
		this.timeline.restored(this.fault);
	}

	/**
	 * Note a disturbance that no fault justifies.
	 * @param text the disturbance
	 */
	void disturbedApplication(String text) {
		this.violations.add(text);
	}

	/**
	 * The disturbances of the application that must not happen.
	 * @return a line for each
	 */
	List<String> disturbances() {
		return List.copyOf(this.violations);
	}

	void effect(String text) {
		this.effect = " " + text;
	}

	/**
	 * The result of the fault.
	 * @return some words after a space, or nothing
	 */
	String effect() {
		return this.effect;
	}

	/**
	 * The number of keys that were locked for it and that no other client uses.
	 * @return the number
	 */
	int keys() {
		return this.keys;
	}

	/**
	 * Wait until the fault is over, or everything is to be healed.
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	void hold() throws InterruptedException {
		pause(Duration.ofNanos(Math.max(0, this.end - System.nanoTime())));
	}

	/**
	 * Wait for a part of the fault.
	 * @param time how long
	 * @return whether the fault goes on
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	boolean pause(Duration time) throws InterruptedException {
		long nanos = Math.min(time.toNanos(), this.end - System.nanoTime());
		boolean healed = this.healing.await(Math.max(0, nanos), TimeUnit.NANOSECONDS);
		return !healed && System.nanoTime() < this.end;
	}

}
