package io.dlock.benchmarks.process;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import com.sun.management.OperatingSystemMXBean;

import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.ServerAddress;

/**
 * Holds many locks for a while. Arguments: server, contender, number of locks, lease and
 * time in milliseconds.
 */
final class HoldTask implements ChildTask {

	private static final int THREADS = 32;

	private final CountDownLatch held = new CountDownLatch(THREADS);

	private final CountDownLatch release = new CountDownLatch(1);

	private final LongAdder lost = new LongAdder();

	@Override
	public ChildReport run(List<String> arguments, Parent parent) throws InterruptedException {
		int locks = Integer.parseInt(arguments.get(2));
		Contender contender = ContenderType.of(arguments.get(1))
			.connect(ServerAddress.parse(arguments.get(0)), Duration.ofMillis(Long.parseLong(arguments.get(3))));
		contender.open("first").acquire();
		MemoryUse before = MemoryUse.now();
		List<Thread> holders = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			int first = i;
			holders.add(new Thread(() -> hold(contender, first, locks), "load-" + i));
		}
		holders.forEach(Thread::start);
		this.held.await();
		MemoryUse after = MemoryUse.now();
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		parent.say("held");
		parent.hear("go");
		long cpu = system.getProcessCpuTime();
		TimeUnit.MILLISECONDS.sleep(Long.parseLong(arguments.get(4)));
		cpu = system.getProcessCpuTime() - cpu;
		long ours = threads("dlock-");
		long all = threads("") - threads("load-");
		parent.say("measured");
		parent.hear("release");
		this.release.countDown();
		for (Thread holder : holders) {
			holder.join();
		}
		return ChildReport.of(Map.of("cpuMillis", cpu / 1e6, "ourThreads", (double) ours, "threads", (double) all,
				"heapPerLock", (after.heap() - before.heap()) / (double) locks, "lost", this.lost.doubleValue()));
	}

	private void hold(Contender contender, int first, int locks) {
		List<ContenderLock> mine = new ArrayList<>();
		try {
			for (int i = first; i < locks; i += THREADS) {
				ContenderLock lock = contender.open("held-" + i);
				lock.acquire();
				mine.add(lock);
			}
			this.held.countDown();
			this.release.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		for (ContenderLock lock : mine) {
			try {
				lock.release();
			}
			catch (RuntimeException ex) {
				this.lost.increment();
			}
		}
	}

	private static long threads(String prefix) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith(prefix))
			.count();
	}

}
