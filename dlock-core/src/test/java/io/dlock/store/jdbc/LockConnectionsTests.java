package io.dlock.store.jdbc;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class LockConnectionsTests {

	/**
	 * The log at start-up and the health show it.
	 */
	@ParameterizedTest
	@CsvSource(delimiterString = " -> ", value = {
			"jdbc:postgresql://db:5432/shop?user=u&password=secret -> jdbc:postgresql://db:5432/shop",
			"jdbc:h2:file:/data/shop;USER=u;PASSWORD=secret -> jdbc:h2:file:/data/shop",
			"jdbc:mysql://u:secret@db:3306/shop -> jdbc:mysql://db:3306/shop",
			"jdbc:mysql://u:secret@one@secret/two@db/shop -> jdbc:mysql://db/shop",
			"jdbc:mysql://u:secret@one,u:secret@two/shop -> jdbc:mysql://two/shop",
			"jdbc:mysql://u:secret;@db/shop?a=b@c -> jdbc:mysql://db/shop",
			"jdbc:h2:tcp://db/shop;PASSWORD=a@secret -> jdbc:h2:tcp://db/shop",
			"jdbc:mysql://(host=db,port=1,user=u,password=secret)/shop -> jdbc:mysql://(host=db,port=1,user=…,password=…)/shop",
			"jdbc:mysql://address=(host=db)(user=u)(password=secret)(Password1=secret)/shop "
					+ "-> jdbc:mysql://address=(host=db)(user=…)(password=…)(Password1=…)/shop" })
	void r57PasswordInAUrlIsNotShown(String url, String shown) {
		assertThat(LockConnections.withoutCredentials(url)).isEqualTo(shown);
	}

	@Test
	void driverThatTellsNoUrlIsNamedAllTheSame() {
		assertThat(LockConnections.withoutCredentials(null)).isEqualTo("jdbc");
	}

}
