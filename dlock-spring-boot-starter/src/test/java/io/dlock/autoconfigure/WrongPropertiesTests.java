package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

import io.dlock.autoconfigure.ConfigurationMetadata.Property;
import io.dlock.autoconfigure.actuate.DlockHealthAutoConfiguration;
import io.dlock.autoconfigure.actuate.DlocksEndpointAutoConfiguration;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockQuorumAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.fencing.jdbc.FencingGuard;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Invalid values of each property: the application does not start, and its message gives
 * the reason and the remedy.
 */
class WrongPropertiesTests {

	/**
	 * A part of {@code docs/configuration.md}. The message is a part of the description
	 * or of the action. Other properties may follow the value.
	 */
	static final String TABLE = """
			| property | value | message |
			|---|---|---|
			| `dlock.backend` | `mongo` | No enum constant io.dlock.autoconfigure.DlockBackend.mongo |
			| `dlock.command-timeout` | `100` | The property dlock.command-timeout is '100', which has no unit |
			| `dlock.command-timeout` | `400d` | 'dlock.command-timeout' must not be longer than PT8760H |
			| `dlock.command-timeout` | `8s` | 'dlock.lease' is 30000 ms, shorter than 4 command timeouts of 8000 ms |
			| `dlock.fair` | `maybe` | Invalid boolean value 'maybe' |
			| `dlock.instance` | | 'dlock.instance' must not be blank |
			| `dlock.instance` | `orders [1]` | 'dlock.instance' must not contain ' [' |
			| `dlock.lease` | `30` | Add one: dlock.lease=30s or dlock.lease=30ms |
			| `dlock.lease` | `soon` | 'soon' is not a valid duration |
			| `dlock.lease` | `0s` | 'dlock.lease' must be positive |
			| `dlock.max-hold` | `29s` | shorter than the default lease of 30000 ms |
			| `dlock.max-poll-interval` | `0s` | 'dlock.max-poll-interval' must be positive |
			| `dlock.mdc` | `maybe` | Invalid boolean value 'maybe' |
			| `dlock.on-store-failure` | `fallback` | A fallback is chosen by the method that names it |
			| `dlock.on-store-failure` | `ignore` | No enum constant io.dlock.OnStoreFailure.ignore |
			| `dlock.release` | `later` | No enum constant io.dlock.ReleaseMode.later |
			| `dlock.shutdown-timeout` | `-1s` | 'dlock.shutdown-timeout' must not be negative |
			| `dlock.startup-timeout` | `61m` | 'dlock.startup-timeout' must be 0 to 60 minutes but is PT1H1M |
			| `dlock.startup-check` | `maybe` | Invalid boolean value 'maybe' |
			| `dlock.wait-time` | `-1s` | 'dlock.wait-time' must not be negative |
			| `dlock.aop.mode` | `lambda` | No enum constant org.springframework.context.annotation.AdviceMode.lambda |
			| `dlock.aop.order` | `2147483647` | dlock.aop.order must be lower than 2147483647 |
			| `dlock.endpoint.forced-release` | `when-authorized` | dlock.endpoint.forced-release-roles |
			| `dlock.endpoint.forced-release` | `sometimes` | No enum constant org.springframework.boot.actuate.endpoint.Show.sometimes |
			| `dlock.endpoint.limit` | `0` | 'dlock.endpoint.limit' must be from 1 to 10000 but is 0 |
			| `dlock.endpoint.limit` | `all` | For input string: "all" |
			| `dlock.endpoint.show-keys` | `sometimes` | No enum constant org.springframework.boot.actuate.endpoint.Show.sometimes |
			| `dlock.events.publish` | `maybe` | Invalid boolean value 'maybe' |
			| `dlock.failover.longest-lease` | `29s` | 'dlock.lease' is 30000 ms, longer than the longest lease of 29000 ms |
			| `dlock.failover.longest-lease` | `2h` | 'dlock.failover.longest-lease' must be from PT0.01S to PT1H but is PT2H |
			| `dlock.failover.max-lag` | `-1s` | 'dlock.failover.max-lag' must be from zero to PT1H but is PT-1S |
			| `dlock.failover.quarantine` | `lease` | needs dlock.failover.longest-lease |
			| `dlock.failover.quarantine` | `minute` | No enum constant io.dlock.autoconfigure.QuarantineMode.minute |
			| `dlock.hand-off.max-duration` | `-1s` | 'dlock.hand-off.max-duration' must not be negative |
			| `dlock.health.interval` | `-1s` | 'dlock.health.interval' must not be negative |
			| `dlock.jdbc.continue-on-error` | `maybe` | Invalid boolean value 'maybe' |
			| `dlock.jdbc.fence-table` | `a b` | 'dlock.jdbc.fence-table' must be a name of up to 63 letters, digits or underscores |
			| `dlock.jdbc.initialize-schema` | `once` | No enum constant org.springframework.boot.sql.init.DatabaseInitializationMode.once |
			| `dlock.jdbc.platform` | `paper` | No schema scripts found at location |
			| `dlock.jdbc.pool-size` | `1` | 'dlock.jdbc.pool-size' must be 2 to 64, one of them for renewals, or 0 for no pool of its own |
			| `dlock.jdbc.pool-size` | `many` | For input string: "many" |
			| `dlock.jdbc.retention` | `59s` | 'dlock.jdbc.retention' must be at least one minute and at most 100 years |
			| `dlock.jdbc.schema` | `classpath:none.sql` | No schema scripts found at location 'classpath:none.sql' |
			| `dlock.jdbc.synchronous-commit` | `sometimes` | No enum constant io.dlock.store.jdbc.SynchronousCommit.sometimes |
			| `dlock.jdbc.synchronous-commit` | `remote-apply` | only PostgreSQL has that setting |
			| `dlock.jdbc.synchronous-commit` | `on`, `dlock.backend=redis` | which does not apply to locks with dlock.backend=redis |
			| `dlock.jdbc.table` | `a b` | 'dlock.jdbc.table' must be a name of up to 63 letters, digits or underscores |
			| `dlock.jdbc.wake-up` | `listen` | No enum constant io.dlock.store.jdbc.WakeUp.listen |
			| `dlock.jdbc.wake-up` | `notify` | H2 does not notify its clients |
			| `dlock.quorum.longest-lease` | `30` | The property dlock.quorum.longest-lease is '30', which has no unit |
			| `dlock.quorum.longest-lease` | `29s` | 'dlock.lease' is 30000 ms, longer than the longest lease of 29000 ms |
			| `dlock.quorum.longest-lease` | `2h` | 'dlock.quorum.longest-lease' must be from PT0.01S to PT1H but is PT2H |
			| `dlock.quorum.nodes` | `redis://a,redis://b` | 'dlock.quorum.nodes' must be an odd number of servers, at least 3, but there are 2 |
			| `dlock.quorum.nodes` | `redis://a,redis://b,redis://a/1` | dlock.quorum.nodes[2] is the server a:6379, which is there twice |
			| `dlock.quorum.nodes` | `redis://a,http://b,redis://c` | dlock.quorum.nodes[1] must be like redis://user:password@host:6379/0, or rediss:// for TLS, but has another scheme |
			| `dlock.quorum.ssl.bundle` | `none` | but no URL of dlock.quorum.nodes begins with rediss:// |
			| `dlock.quorum.wrong-clocks` | `2` | 'dlock.quorum.wrong-clocks' must be fewer than half of the 3 nodes but is 2 |
			| `dlock.redis.acknowledge` | `always` | No enum constant io.dlock.autoconfigure.redis.AcknowledgeMode.always |
			| `dlock.redis.acknowledge` | `replicas`, `dlock.backend=jdbc` | which does not apply to locks with dlock.backend=jdbc |
			| `dlock.redis.acknowledge` | `fsync`, `dlock.backend=jdbc` | Set dlock.redis.acknowledge=none, or choose dlock.backend=redis |
			| `dlock.redis.acknowledge-replicas` | `0` | 'dlock.redis.acknowledge-replicas' must be at least 1 but is 0 |
			| `dlock.redis.acknowledge-replicas` | `101` | 'dlock.redis.acknowledge-replicas' must be 1 to 100 |
			| `dlock.redis.acknowledge-timeout` | `250` | The property dlock.redis.acknowledge-timeout is '250', which has no unit |
			| `dlock.redis.acknowledge-timeout` | `0s` | 'dlock.redis.acknowledge-timeout' must be at least 1 ms |
			| `dlock.redis.acknowledge-timeout` | `501ms`, `dlock.redis.acknowledge=fsync` | must be at most half of the command timeout, 500 ms, but is 501 ms |
			| `dlock.redis.prefix` | `{a}` | 'dlock.redis.prefix' must be 1 to 100 letters, digits or . _ : / - |
			| `dlock.transaction.commit-check` | `often` | No enum constant io.dlock.autoconfigure.CommitCheck.often |
			| `dlock.transaction.commit-check` | `row` | dlock.transaction.commit-check is 'row', but the locks are not in a database |
			| `dlock.transaction.inside` | `join` | No enum constant io.dlock.transaction.InsideTransaction.join |
			""";

	/**
	 * Role names are not validated, Boot checks the access as that of all endpoints, and
	 * any text but "true" disables the console.
	 */
	private static final List<String> NOT_CHECKED = List.of("dlock.console.enabled",
			"dlock.endpoint.forced-release-roles", "dlock.endpoint.roles", "management.endpoint.dlocks.access");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class, DlockRedisAutoConfiguration.class,
				DlockQuorumAutoConfiguration.class, DlockHealthAutoConfiguration.class,
				DlocksEndpointAutoConfiguration.class))
		.withUserConfiguration(Fenced.class)
		.withPropertyValues("management.endpoints.web.exposure.include=dlocks", "spring.data.redis.port=1",
				"dlock.quorum.nodes=redis://a,redis://b,redis://c",
				"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

	@Configuration(proxyBeanMethods = false)
	static class Fenced {

		@Bean
		Object user(FencingGuard guard) {
			return guard.toString();
		}

	}

	static Stream<Arguments> rows() {
		return TABLE.lines().skip(2).map((line) -> line.replace("`", "").split(" *\\| ?")).map((cells) -> {
			Object[] trimmed = Arrays.stream(cells).skip(1).map(String::trim).toArray();
			return Arguments.of(trimmed);
		});
	}

	@ParameterizedTest(name = "{0}={1}")
	@MethodSource("rows")
	void valueThatAPropertyCannotHaveFailsTheStart(String property, String value, String message) {
		String[] properties = (property + "=" + value).split(", ");
		this.runner.withPropertyValues("dlock.backend=" + backend(property))
			.withPropertyValues(properties)
			.run((context) -> {
				assertThat(context).hasFailed();
				FailureAnalysis analysis = analysis(context.getStartupFailure());
				assertThat(analysis.getAction()).isNotBlank();
				assertThat(analysis.getDescription() + " " + analysis.getAction()).contains(message)
					.containsAnyOf(property, "dlock.lease");
			});
	}

	private static String backend(String property) {
		return Stream.of("jdbc", "redis", "quorum")
			.filter((backend) -> property.startsWith("dlock." + backend))
			.findFirst()
			.orElse("memory");
	}

	/**
	 * The report that Boot prints instead of a stack trace.
	 */
	private static FailureAnalysis analysis(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof FailureAnalyzedException analyzed) {
				return analyzed.analysis();
			}
		}
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class,
					ArgumentResolver.of(BeanFactory.class, new DefaultListableBeanFactory())
						.and(Environment.class, new StandardEnvironment()),
					FailureHandler.logging(LogFactory.getLog(WrongPropertiesTests.class)))
			.stream()
			.map((analyzer) -> analyzer.analyze(failure))
			.filter((analysis) -> analysis != null)
			.findFirst()
			.orElseThrow(() -> new AssertionError("a stack trace", failure));
	}

	@Test
	void everyDurationNeedsAUnit() {
		assertThat(ConfigurationMetadata.properties()).filteredOn(Property::type, Duration.class.getName())
			.extracting(Property::name)
			.containsExactlyInAnyOrderElementsOf(DurationUnitValidator.DURATIONS);
	}

	@Test
	void everyPropertyHasAWrongValue() {
		List<String> wrong = rows().map((row) -> (String) row.get()[0]).toList();
		assertThat(ConfigurationMetadata.properties()).extracting(Property::name)
			.allSatisfy((name) -> assertThat(wrong.contains(name) || NOT_CHECKED.contains(name)).as(name).isTrue());
	}

}
