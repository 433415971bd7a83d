package io.dlock.autoconfigure.jdbc;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;

import io.dlock.store.jdbc.SynchronousCommit;
import io.dlock.store.jdbc.WakeUp;

/**
 * Configuration of locks in a database.
 *
 * @since 0.1
 */
@ConfigurationProperties("dlock.jdbc")
public class DlockJdbcProperties extends DatabaseInitializationProperties {

	static final String DEFAULT_TABLE = "dlock_lock";

	private static final String DEFAULT_SCHEMA_LOCATION = "classpath:io/dlock/store/jdbc/schema-@@platform@@.sql";

	private static final String FENCE_SCHEMA_LOCATION = "classpath:io/dlock/fencing/jdbc/schema-@@platform@@.sql";

	/**
	 * Name of the lock table, optionally with its schema.
	 */
	private String table = DEFAULT_TABLE;

	/**
	 * Name of the fence table, optionally with its schema. The table is in the database
	 * of the application, wherever the locks are.
	 */
	private String fenceTable = "dlock_fence";

	/**
	 * Largest number of connections that the locks open for themselves, one of which is
	 * reserved for renewals. Zero to share the connections of the application.
	 */
	private int poolSize = 17;

	/**
	 * Time for which the row of a free lock is kept.
	 */
	private Duration retention = Duration.ofDays(1);

	/**
	 * How waiting instances learn of a released lock, the same for all instances: by
	 * NOTIFY of PostgreSQL, or by polls. By default NOTIFY on PostgreSQL, if the locks
	 * have connections of their own, and polls elsewhere.
	 */
	private @Nullable WakeUp wakeUp;

	/**
	 * Level of synchronous_commit for acquires and renewals on PostgreSQL. Needs the
	 * locks' own pool, in which the default is on.
	 */
	private SynchronousCommit synchronousCommit = SynchronousCommit.DEFAULT;

	public DlockJdbcProperties() {
		setContinueOnError(false);
	}

	public String getTable() {
		return this.table;
	}

	public void setTable(String table) {
		this.table = table;
	}

	public String getFenceTable() {
		return this.fenceTable;
	}

	public void setFenceTable(String fenceTable) {
		this.fenceTable = fenceTable;
	}

	public int getPoolSize() {
		return this.poolSize;
	}

	public void setPoolSize(int poolSize) {
		this.poolSize = poolSize;
	}

	public Duration getRetention() {
		return this.retention;
	}

	public void setRetention(Duration retention) {
		this.retention = retention;
	}

	public @Nullable WakeUp getWakeUp() {
		return this.wakeUp;
	}

	public void setWakeUp(@Nullable WakeUp wakeUp) {
		this.wakeUp = wakeUp;
	}

	public SynchronousCommit getSynchronousCommit() {
		return this.synchronousCommit;
	}

	public void setSynchronousCommit(SynchronousCommit synchronousCommit) {
		this.synchronousCommit = synchronousCommit;
	}

	@Override
	public String getDefaultSchemaLocation() {
		return DEFAULT_SCHEMA_LOCATION;
	}

	/**
	 * The properties of the fence table, whose script is not configurable.
	 */
	DatabaseInitializationProperties ofFence() {
		DatabaseInitializationProperties fence = new DatabaseInitializationProperties() {

			@Override
			public String getDefaultSchemaLocation() {
				return FENCE_SCHEMA_LOCATION;
			}

		};
		fence.setInitializeSchema(getInitializeSchema());
		String platform = getPlatform();
		if (platform != null) {
			fence.setPlatform(platform);
		}
		fence.setContinueOnError(isContinueOnError());
		return fence;
	}

}
