package io.dlock.store.jdbc;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LockConnectionsTests {

	/**
	 * The log at start-up and the health show the URL.
	 */
	@Test
	void r57PasswordBehindTheAddressIsNotShown() {
		assertShown("jdbc:postgresql://db:5432/shop?user=u&password=secret", "jdbc:postgresql://db:5432/shop");
		assertShown("jdbc:h2:file:/data/shop;USER=u;PASSWORD=secret", "jdbc:h2:file:/data/shop");
		assertShown("jdbc:h2:tcp://db/shop;PASSWORD=a@secret", "jdbc:h2:tcp://db/shop");
	}

	@Test
	void r57PasswordBeforeTheAddressIsNotShown() {
		assertShown("jdbc:mysql://u:secret@db:3306/shop", "jdbc:mysql://db:3306/shop");
		assertShown("jdbc:mysql://u:secret@one@secret/two@db/shop", "jdbc:mysql://db/shop");
		assertShown("jdbc:mysql://u:secret@one,u:secret@two/shop", "jdbc:mysql://two/shop");
		assertShown("jdbc:mysql://u:secret;@db/shop?a=b@c", "jdbc:mysql://db/shop");
	}

	@Test
	void r57PasswordInParenthesesIsNotShown() {
		assertShown("jdbc:mysql://(host=db,port=1,user=u,password=secret)/shop",
				"jdbc:mysql://(host=db,port=1,user=…,password=…)/shop");
		assertShown("jdbc:mysql://address=(host=db)(user=u)(password=secret)(Password1=secret)/shop",
				"jdbc:mysql://address=(host=db)(user=…)(password=…)(Password1=…)/shop");
	}

	private static void assertShown(String url, String shown) {
		assertThat(LockConnections.withoutCredentials(url)).isEqualTo(shown);
	}

	@Test
	void driverThatTellsNoUrlIsNamedAllTheSame() {
		assertThat(LockConnections.withoutCredentials(null)).isEqualTo("jdbc");
	}

}
