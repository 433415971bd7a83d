package io.dlock.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.dlock.store.Quarantine;
import io.dlock.test.TcpProxy;
import io.dlock.torture.FinalChecks.Before;
import io.dlock.torture.fault.Bed;
import io.dlock.torture.fault.ClockOffset;
import io.dlock.torture.fault.ClockShim;
import io.dlock.torture.fault.FaultCatalogue;
import io.dlock.torture.fault.FaultType;
import io.dlock.torture.fault.Nemesis;
import io.dlock.torture.fault.Plan;
import io.dlock.torture.fault.PlannedFault;
import io.dlock.torture.fault.Tier;
import io.dlock.torture.fault.Timeline;
import io.dlock.torture.judge.Verdict;
import io.dlock.torture.report.Report;
import io.dlock.torture.server.StoreType.Ability;
import io.dlock.torture.server.StoreUnderTest;

/**
 * A campaign: starts a store, the resource and the clients, inflicts a plan of faults,
 * heals everything, lets the clients run on in peace, stops them, and looks at what is
 * left.
 */
public final class Campaign implements AutoCloseable {

	private static final String RESOURCE = "io.dlock.torture.resource.FencedResource";

	private static final Duration START_PATIENCE = Duration.ofSeconds(60);

	/** For calls of a client without an answer, until the longest lease is over. */
	private static final Duration AT_REST = Duration.ofSeconds(80);

	/**
	 * The calm end with fair calls, of which few may be judged before: a mailbox of
	 * PostgreSQL may be deaf for its first twelve seconds.
	 */
	private static final Duration FAIR_END = Duration.ofSeconds(35);

	/**
	 * The calm end of a brief run, in which a slow machine has calls to judge as well.
	 */
	private static final Duration BRIEF_END = Duration.ofSeconds(8);

	/** HikariCP waits no shorter for a connection. */
	private static final Duration POOL_TIMEOUT = Duration.ofMillis(250);

	private final CampaignOptions options;

	private final Path directory;

	private final List<AutoCloseable> opened = new ArrayList<>();

	private final FinalChecks checks = new FinalChecks();

	private final List<String> impossible = new ArrayList<>();

	private final Timeline timeline;

	private Campaign(CampaignOptions options) throws IOException {
		this.options = options;
		this.directory = options.directory()
			.resolve("%s-%d-%d".formatted(options.store().label(), options.seed(), System.currentTimeMillis()));
		Files.createDirectories(this.directory);
		this.timeline = open(new Timeline(this.directory.resolve("timeline.txt")));
	}

	public static void main(String[] args) throws Exception {
		if (args.length == 0) {
			System.err.println(CampaignOptions.USAGE);
			System.exit(2);
		}
		Run run = run(CampaignOptions.parse(args));
		Verdict verdict = Report.write(run.directory());
		run.checks().forEach(System.out::println);
		System.out.println(Report.text(run.directory(), verdict));
		System.out.println(run.directory());
		System.exit(verdict.exitCode());
	}

	/**
	 * Run a campaign.
	 * @param options what to do
	 * @return the directory of the run, and what is known besides the histories
	 * @throws Exception if it cannot be run
	 */
	static Run run(CampaignOptions options) throws Exception {
		try (Campaign campaign = new Campaign(options)) {
			List<PlannedFault> plan = campaign.run();
			return new Run(campaign.directory, plan, campaign.impossible, campaign.checks.lines());
		}
	}

	private List<PlannedFault> run() throws Exception {
		Optional<ClockShim> shim = ClockShim.compile(this.directory);
		Optional<ClockOffset> storeClock = shim
			.filter((clock) -> this.options.tier() == Tier.L || this.options.wrongClocks() > 0)
			.map((clock) -> clock.clock(this.directory.resolve("store.clock")));
		Optional<Quarantine> quarantine = this.options.terms();
		StoreUnderTest.Mode mode = new StoreUnderTest.Mode(this.options.tier() == Tier.S && quarantine.isEmpty(),
				quarantine, storeClock.map(ClockOffset::environment).orElse(Map.of()));
		StoreUnderTest store = open(StoreUnderTest.start(this.options.store(), mode));
		List<TcpProxy> links = links(store);
		Before before = new Before(store.figures(), keys(), Set.of());
		this.checks.figures("before", before.figures());
		List<ClientProcess> clients = startClients(store, links, startResource(), shim);
		Map<String, Long> quiet = FinalChecks.quiet(store::figures, this.options.lease());
		this.checks.figures("ready", quiet);
		Before ready = new Before(
				isOurs() ? FinalChecks.withMailboxes(quiet, clients.size(), store.idleConnections()) : quiet, keys(),
				isPoolSlow() ? Set.of("connections") : Set.of());
		open(MachineWatch.start(this.directory.resolve("machine.txt")));
		clients.forEach((client) -> client.tell("GO"));
		Bed bed = new Bed(store, clients.subList(0, this.options.clients()),
				clients.subList(this.options.clients(), clients.size()), links, storeClock, this.options.lease(),
				quarantine.map((terms) -> terms.longestLease().plus(terms.maxLag())).orElse(Duration.ZERO));
		List<PlannedFault> plan = plan(bed);
		int keys = keys() + torture(bed, clients, plan);
		Duration end = (this.options.fair() > 0) ? FAIR_END
				: this.options.isSmoke() ? BRIEF_END : this.options.lease().multipliedBy(2);
		this.timeline.phase("QUIESCE", end.toString());
		LockSupport.parkNanos(end.toNanos());
		clients.forEach((client) -> client.tell("STOP"));
		clients.forEach((client) -> inTime(client, client::awaitIdle));
		this.checks.store("idle", store, ready.with(keys), patienceWhenIdle());
		clients.forEach((client) -> client.tell("CLOSE"));
		clients.forEach((client) -> inTime(client, client::awaitStop));
		this.timeline.phase("DONE", "all clients are stopped");
		this.checks.store("gone", store, before.with(keys), this.options.lease().multipliedBy(3).plusSeconds(2));
		this.checks.write(this.directory.resolve("checks.txt"));
		return plan;
	}

	/**
	 * One proxy for each client, so that its network breaks alone, or those that the
	 * store has, if any can be broken.
	 */
	private List<TcpProxy> links(StoreUnderTest store) {
		if (store.type().has(Ability.ADDRESSES)) {
			return store.links();
		}
		List<TcpProxy> links = new ArrayList<>();
		for (int i = 0; i < processes(); i++) {
			links.add(open(TcpProxy.to("127.0.0.1", store.nodes().get(0).port())));
		}
		return links;
	}

	/**
	 * The clients, and one that keeps many locks and is neither stopped nor killed: some
	 * of its leases are so long that they would be there when all is over.
	 */
	private int processes() {
		return this.options.clients() + ((this.options.kept() > 0) ? 1 : 0);
	}

	private ChildJvm startResource() {
		ChildJvm resource = ChildJvm.start(RESOURCE,
				List.of("--port=0", "--log=" + this.directory.resolve("resource.log")), Map.of(),
				this.directory.resolve("resource.out"));
		this.opened.add(resource::kill);
		return resource;
	}

	private List<ClientProcess> startClients(StoreUnderTest store, List<TcpProxy> links, ChildJvm resource,
			Optional<ClockShim> shim) throws InterruptedException {
		String port = resource.await("LISTENING", START_PATIENCE);
		List<ClientProcess> clients = new ArrayList<>();
		for (int i = 0; i < processes(); i++) {
			List<String> arguments = new ArrayList<>(
					store.clientOptions((i < links.size()) ? links.get(i).port() : store.nodes().get(0).port()));
			arguments.addAll(List.of("--seed=" + this.options.seed(), "--lease=" + this.options.lease().toMillis(),
					"--threads=" + this.options.threads(), "--keys=" + this.options.keys(), "--resource=" + port,
					"--contender=" + this.options.contender(), "--wrong-clocks=" + this.options.wrongClocks(),
					"--long-leases=" + hasLongLeases()));
			this.options.terms()
				.ifPresent((terms) -> arguments.addAll(List.of("--longest-lease=" + terms.longestLease().toMillis(),
						"--max-lag=" + terms.maxLag().toMillis())));
			arguments.addAll((i < this.options.clients()) ? List.of("--futures=" + this.options.futures(),
					"--pollers=" + this.options.pollers(), "--transfers=" + this.options.transfers(),
					"--places=" + this.options.places(), "--fair=" + this.options.fair())
					: List.of("--kept=" + this.options.kept()));
			clients.add(open(new ClientProcess(i, this.directory, ClientProcess.MAIN, arguments, clock(shim, i))));
		}
		clients.forEach(ClientProcess::start);
		for (ClientProcess client : clients) {
			client.awaitReady();
		}
		return clients;
	}

	private @Nullable ClockOffset clock(Optional<ClockShim> shim, int client) {
		return shim.map((library) -> library.clock(this.directory.resolve("client-" + client + ".clock"))).orElse(null);
	}

	private List<PlannedFault> plan(Bed bed) throws IOException {
		List<FaultType> types = FaultCatalogue.of(bed, this.options.tier())
			.stream()
			.filter((type) -> this.options.isWanted(type.id()))
			.toList();
		Plan.Pace pace = this.options.isSmoke() ? Plan.Pace.smoke(this.options.lease(), afterFault())
				: Plan.Pace.campaign(this.options.duration(), this.options.lease());
		List<PlannedFault> plan = Plan.make(types, bed.sizes(), pace, this.options.seed());
		Files.write(this.directory.resolve("plan.txt"),
				Stream.concat(Stream.of(this.options.toString()), plan.stream().map(PlannedFault::toString)).toList());
		return plan;
	}

	/**
	 * A brief run does not wait for them, a store with a quarantine has no leases that
	 * are so long, and one of tier L may have locks again that were given back.
	 */
	private boolean hasLongLeases() {
		return this.options.tier() == Tier.S && !this.options.isSmoke() && !this.options.quarantine();
	}

	/**
	 * As long as a fault of the store is a reason for the judge: three command timeouts,
	 * of which those of a database are longer, and a poll.
	 */
	private Duration afterFault() {
		Duration command = this.options.lease().dividedBy(10);
		boolean pooled = !this.options.store().isRedis() && command.compareTo(POOL_TIMEOUT) < 0;
		return (pooled ? POOL_TIMEOUT : command).multipliedBy(3).plus(command);
	}

	/**
	 * Inflict all faults.
	 * @return how many keys they needed for themselves
	 */
	private int torture(Bed bed, List<ClientProcess> clients, List<PlannedFault> plan) throws InterruptedException {
		Nemesis nemesis = new Nemesis(bed, this.timeline);
		try (Watchdog watchdog = new Watchdog(clients, this.options.lease())) {
			nemesis.run(plan);
			nemesis.heal();
			this.timeline.phase("HEAL", "all faults are over");
			watchdog.findings().forEach((finding) -> this.checks.check("I9", false, finding));
		}
		nemesis.disturbances().forEach((disturbance) -> this.checks.check("I16", false, disturbance));
		plan.stream()
			.filter((fault) -> fault.type().id().equals("F32") && nemesis.disturbances().isEmpty())
			.forEach((fault) -> this.checks.check("I16", true, fault + " left the application its connections"));
		this.impossible.addAll(nemesis.failures());
		this.impossible.forEach((failure) -> this.checks.note("fault not possible: " + failure));
		this.checks.note(plan.size() + " faults planned, " + nemesis.keys() + " keys locked for them");
		return nemesis.keys();
	}

	private void inTime(ClientProcess client, Stop stop) {
		try {
			stop.await(this.options.lease().multipliedBy(10).plusSeconds(20).plus(AT_REST));
		}
		catch (IllegalStateException ex) {
			this.checks.check("I9", false, client.name() + " does not stop: " + ex.getMessage());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * A pool keeps the connections that a burst needed for a minute, and looks only every
	 * 30 seconds. A smoke test does not wait for that. The pools of the peers keep all
	 * that they ever needed.
	 */
	private boolean isPoolSlow() {
		return !isOurs() || (this.options.isSmoke() && !this.options.store().isRedis());
	}

	private boolean isOurs() {
		return this.options.contender().equals("dlock");
	}

	private Duration patienceWhenIdle() {
		return this.options.lease().multipliedBy(3).plusSeconds(this.options.isSmoke() ? 2 : 120);
	}

	/**
	 * The shared keys, for each client those to warm up with, one for each of its threads
	 * and futures, and those that are kept.
	 */
	private int keys() {
		return this.options.keys() + Keys.SHARED + this.options.kept()
				+ processes() * (Keys.WARM_UP + this.options.threads() + this.options.futures());
	}

	private <T extends AutoCloseable> T open(T resource) {
		this.opened.add(resource);
		return resource;
	}

	@Override
	public void close() {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			try {
				this.opened.get(i).close();
			}
			catch (Exception ex) {
				System.err.println("Could not stop everything: " + ex);
			}
		}
	}

	/**
	 * A step of a client towards its end.
	 */
	@FunctionalInterface
	private interface Stop {

		void await(Duration patience) throws InterruptedException;

	}

	/**
	 * The files that a campaign leaves to the judge.
	 *
	 * @param directory where everything is written
	 * @param plan the faults
	 * @param impossible the faults that could not be inflicted
	 * @param checks a line for each check that was made at the end
	 */
	record Run(Path directory, List<PlannedFault> plan, List<String> impossible, List<String> checks) {

	}

}
