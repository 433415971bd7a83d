package io.dlock.store.jdbc;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class LockDatabaseOpenerTests {

	/**
	 * The log at start-up and the health show the URL.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = ' ', value = { "jdbc:postgresql://db:5432/shop jdbc:postgresql://db:5432/shop",
			"jdbc:postgresql://[::1]:5432,two/shop jdbc:postgresql://[::1]:5432,two/shop",
			"jdbc:postgresql:shop?password=secret jdbc:postgresql:shop", "jdbc:postgresql:shop jdbc:postgresql:shop",
			"jdbc:postgresql://db:5432/shop?user=u&password=secret jdbc:postgresql://db:5432/shop",
			"jdbc:postgresql://db/shop?user=u@corp&password=secret jdbc:postgresql://…",
			"jdbc:postgresql://db/shop?user=u&password=one@secret jdbc:postgresql://…",
			"jdbc:h2:file:/data/shop;USER=u;PASSWORD=secret jdbc:h2:file:/data/shop",
			"jdbc:h2:tcp://db/shop;PASSWORD=a@secret jdbc:h2:tcp://db/shop",
			"jdbc:mysql://u:secret@db:3306/shop jdbc:mysql://db:3306/shop",
			"jdbc:mysql://u:secret@one@secret/two@db/shop jdbc:mysql://db/shop",
			"jdbc:mysql://u:secret@one,u:secret@two/shop jdbc:mysql://two/shop",
			"jdbc:mysql://u:secret?secret@db/shop jdbc:mysql://…", "jdbc:mysql://u:?secret@db/shop?a=b jdbc:mysql://…",
			"jdbc:mysql://u:secret/secret?secret@db/shop jdbc:mysql://…",
			"jdbc:mysql://u:secret@secret?secret@db/shop jdbc:mysql://…",
			"jdbc:mysql://u:secret;@db/shop?a=b@c jdbc:mysql://…",
			"jdbc:mysql://u:sec#ret@db/shop jdbc:mysql://db/shop",
			"jdbc:mysql:replication://u:secret@one,two/shop?x=y jdbc:mysql:replication://one,two/shop",
			"jdbc:mysql://(host=db,port=1,user=u,password=secret)/shop jdbc:mysql://…",
			"jdbc:mysql://(host=db,user=u,password=se@secret)/shop jdbc:mysql://…",
			"jdbc:mysql://address=(host=db)(user=u)(password=secret,secret)/shop jdbc:mysql://…",
			"jdbc:mysql://u:secret@(host=db)/shop jdbc:mysql://…", "jdbc:mysql://u:sec(ret@db/shop jdbc:mysql://…",
			"jdbc:mariadb://db/shop?password=a&b=secret jdbc:mariadb://db/shop",
			"jdbc:sqlserver://db;user=u;password=one@secret jdbc:sqlserver://…" })
	void r57PasswordIsNotShown(String url, String shown) {
		assertThat(LockDatabaseOpener.withoutCredentials(url)).isEqualTo(shown).doesNotContain("secret");
	}

	@Test
	void driverWithoutAUrlIsDescribed() {
		assertThat(LockDatabaseOpener.withoutCredentials(null)).isEqualTo("jdbc");
	}

}
