package io.dlock.store;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class StorageKeyTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = false, textBlock = """
			orders:42|orders:42
			com.acme.Jobs#nightly()|com.acme.Jobs#nightly%28%29
			a b|a%20b
			a%20b|a%2520b
			{a}|%7Ba%7D
			ä|%C3%A4
			~|%7E
			""")
	void keyIsPrintableAndReadable(String key, String stored) {
		assertThat(StorageKey.of(key)).isEqualTo(stored);
	}

	@Test
	void halvesOfSurrogatePairsAreKeptApart() {
		assertThat(StorageKey.of("\ud800")).isEqualTo("%uD800");
		assertThat(StorageKey.of("\udc00")).isEqualTo("%uDC00");
		assertThat(StorageKey.of("\ud83d\udd12")).isEqualTo("%F0%9F%94%92");
		assertThat(StorageKey.of("%uD800")).isEqualTo("%25uD800");
	}

	@Test
	void longKeyIsShortenedAndHashed() {
		String stored = StorageKey.of("orders:" + "x".repeat(10_000));
		assertThat(stored).hasSize(StorageKey.MAX_LENGTH).startsWith("orders:xxx").matches(".*~[0-9a-f]{64}");
		assertThat(StorageKey.of("x".repeat(512))).isEqualTo("x".repeat(512));
		assertThat(StorageKey.of("x".repeat(513))).hasSize(512).contains("~");
	}

	@Test
	void keyThatIsAsLongAsAStorageKeyMayBeIsNotShortened() {
		String longest = "x".repeat(StorageKey.MAX_LENGTH - 3) + "%20";
		assertThat(StorageKey.of("x".repeat(StorageKey.MAX_LENGTH - 3) + " ")).isEqualTo(longest);
		assertThat(StorageKey.of("x".repeat(StorageKey.MAX_LENGTH - 2) + " ")).hasSize(StorageKey.MAX_LENGTH)
			.matches("x{447}~[0-9a-f]{64}");
	}

	/**
	 * Rows of the store itself begin like that.
	 */
	@Test
	void r53NoKeyIsStoredAsARowOfTheStoreItself() {
		assertThat(StorageKey.of("!quarantine")).isNotEqualTo("!quarantine").doesNotContain("!");
	}

	@Test
	void r53LongKeysThatDifferInOneHalfOfACharacterAreKeptApart() {
		String prefix = "x".repeat(600);
		assertThat(List.of("\u0141", "\u0241", "\u0142", "A", "\ud841", "\ud941")
			.stream()
			.map((last) -> StorageKey.of(prefix + last))
			.distinct()).hasSize(6);
	}

	@Test
	void storedKeyOfAnyKeyIsAsciiAndNoTwoAreTheSame() {
		Random random = new Random(17);
		Map<String, String> seen = new HashMap<>();
		char[] alphabet = "aA%u20~{}\u0000 é\ud83d\udd12\n'".toCharArray();
		for (int i = 0; i < 200_000; i++) {
			StringBuilder key = new StringBuilder();
			int length = 1 + random.nextInt(6);
			for (int n = 0; n < length; n++) {
				key.append(alphabet[random.nextInt(alphabet.length)]);
			}
			String stored = StorageKey.of(key.toString());
			assertThat(stored.chars().allMatch((c) -> c > 32 && c < 127)).isTrue();
			String other = seen.put(stored, key.toString());
			assertThat(other == null || other.contentEquals(key)).as(stored).isTrue();
		}
	}

	@Test
	void r55StorageKeyIsTakenAsShown() {
		for (String key : List.of("stock:book", "a b", "%", "\u00e9\n\u0000", "\ud83d", "~", "x".repeat(512),
				"x".repeat(513), "\u00e9".repeat(1000), "a".repeat(446) + " " + "b".repeat(1000))) {
			String stored = StorageKey.of(key);
			assertThat(StorageKey.ofShown(stored)).as("as it is stored").isEqualTo(stored);
			assertThat(StorageKey.ofShown(key)).as("as the user wrote it").isEqualTo(stored);
		}
	}

	@Test
	void r55OtherTextIsTakenAsAKey() {
		for (String text : List.of("50%", "a~b", "%2", "%zz", "%uD80", "%c3%a9", "x".repeat(447) + "~" + "g".repeat(64),
				"x".repeat(446) + "~" + "0".repeat(64), "x".repeat(448) + "~" + "0".repeat(64))) {
			assertThat(StorageKey.ofShown(text)).isEqualTo(StorageKey.of(text)).isNotEqualTo(text);
		}
		assertThat(StorageKey.ofShown("a%20b")).as("of two meanings this one").isEqualTo("a%20b");
	}

}
