package io.dlock.store.jdbc.dialect;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Only some of the errors can be had from a server at will.
 */
class SqlErrorsTests {

	private static SQLException error(String stateAndCode) {
		String[] parts = stateAndCode.split("/");
		return new SQLException("failed", parts[0], (parts.length > 1) ? Integer.parseInt(parts[1]) : 0);
	}

	private static StoreException failure(SQLException error) {
		return SqlErrors.translate("acquire", error);
	}

	@ParameterizedTest
	@ValueSource(strings = { "40001", "40P01", "23505", "23000/1062", "HY000/1213", "HY000/1020", "40001/1213" })
	void r35ConflictIsRepeated(String stateAndCode) {
		SQLException error = error(stateAndCode);
		assertThat(SqlErrors.isConflict(error)).isTrue();
		assertThat(SqlErrors.isSlowOrBlocked(error)).isFalse();
		assertThat(failure(error)).returns(Effect.NONE, StoreException::effect)
			.returns(false, StoreException::isPermanent);
	}

	@ParameterizedTest
	@ValueSource(strings = { "57014", "55P03", "HYT00", "HY000/1205", "40001/1205" })
	void r35StatementThatTheServerGaveUpIsNotRepeated(String stateAndCode) {
		SQLException error = error(stateAndCode);
		assertThat(SqlErrors.isConflict(error)).isFalse();
		assertThat(SqlErrors.isSlowOrBlocked(error)).isTrue();
		assertThat(failure(error)).returns(Effect.NONE, StoreException::effect)
			.returns(false, StoreException::isPermanent);
	}

	@ParameterizedTest
	@ValueSource(strings = { "25006", "HY000/1290", "25006/1792", "HY000/1836" })
	void r35ReadOnlyServerIsUnavailable(String stateAndCode) {
		SQLException error = error(stateAndCode);
		assertThat(SqlErrors.isReadOnly(error)).isTrue();
		assertThat(SqlErrors.isConflict(error)).isFalse();
		assertThat(SqlErrors.isSlowOrBlocked(error)).isFalse();
		assertThat(failure(error)).returns(Effect.NONE, StoreException::effect)
			.returns(false, StoreException::isPermanent);
	}

	@ParameterizedTest
	@ValueSource(strings = { "42000", "42P01", "28P01", "22001", "3D000", "3F000", "0A000" })
	void r35WrongConfigurationIsPermanent(String state) {
		SQLException error = error(state);
		assertThat(failure(error)).returns(Effect.NONE, StoreException::effect)
			.returns(true, StoreException::isPermanent);
		assertThat(SqlErrors.notConnected(error).isPermanent()).isTrue();
	}

	/**
	 * The exception of a pool has the state of its cause, and no code.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "42000/1203", "42000/1226", "42000/1461" })
	void r35LimitOfTheServerPasses(String stateAndCode) {
		SQLException error = error(stateAndCode);
		assertThat(failure(error)).returns(Effect.NONE, StoreException::effect)
			.returns(false, StoreException::isPermanent);
		SQLException ofThePool = new SQLTransientConnectionException("timed out", error.getSQLState(), error);
		assertThat(SqlErrors.notConnected(ofThePool)).returns(Effect.NONE, StoreException::effect)
			.returns(false, StoreException::isPermanent);
	}

	@ParameterizedTest
	@ValueSource(strings = { "08006", "08007", "57P01", "HY000", "HY000/2013", "90067" })
	void r35BrokenConnectionIsUnknown(String stateAndCode) {
		SQLException error = error(stateAndCode);
		assertThat(SqlErrors.isConflict(error)).isFalse();
		assertThat(SqlErrors.isSlowOrBlocked(error)).isFalse();
		assertThat(failure(error)).returns(Effect.UNKNOWN, StoreException::effect)
			.returns(false, StoreException::isPermanent);
		assertThat(SqlErrors.notConnected(error)).returns(Effect.NONE, StoreException::effect)
			.returns(false, StoreException::isPermanent);
	}

	@Test
	void r35ErrorWithoutAStateIsUnknown() {
		assertThat(failure(new SQLException("failed")).effect()).isEqualTo(Effect.UNKNOWN);
	}

	@ParameterizedTest
	@ValueSource(strings = { "42S02", "42S22", "42P01", "42703", "3F000" })
	void missingTableOrColumnIsKnown(String state) {
		assertThat(SqlErrors.isMissingTableOrColumn(error(state))).isTrue();
		assertThat(SqlErrors.isMissingTableOrColumn(error("42501"))).isFalse();
	}

}
