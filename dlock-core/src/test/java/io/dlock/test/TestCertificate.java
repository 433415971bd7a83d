package io.dlock.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;

/**
 * A certificate for the address 127.0.0.1 that trusts itself, with its key, both in PEM
 * files.
 *
 * @param certificate the certificate
 * @param key the private key
 */
public record TestCertificate(Path certificate, Path key) {

	private static final String PASSWORD = "secret";

	/**
	 * Make a certificate with the tool of the JDK.
	 * @param name its subject
	 * @return the certificate, until the JVM ends
	 */
	public static TestCertificate create(String name) {
		Path directory = ServerProcess.newDirectory("certificate");
		Path keys = directory.resolve("keys.p12");
		ServerProcess.run(directory,
				List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias",
						name, "-dname", "CN=" + name, "-ext", "SAN=ip:127.0.0.1", "-keyalg", "EC", "-storetype",
						"PKCS12", "-keystore", keys.toString(), "-storepass", PASSWORD));
		return ServerProcess.unlessExiting(() -> read(directory, keys, name));
	}

	private static TestCertificate read(Path directory, Path file, String name) throws IOException {
		try {
			KeyStore keys = KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
			Path key = directory.resolve("key.pem");
			Files.createFile(key, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
			Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
			write(key, "PRIVATE KEY", keys.getKey(name, PASSWORD.toCharArray()).getEncoded());
			return new TestCertificate(
					write(directory.resolve("certificate.pem"), "CERTIFICATE", keys.getCertificate(name).getEncoded()),
					key);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Path write(Path file, String type, byte[] encoded) throws IOException {
		return Files.writeString(file, "-----BEGIN %s-----%n%s%n-----END %1$s-----%n".formatted(type,
				Base64.getMimeEncoder().encodeToString(encoded)));
	}

}
