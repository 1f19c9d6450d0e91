package io.holdfast.it;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Certificates for nodes, made with the JDK's keytool, as PEM files. It signs what it issues, and
 * is trusted by nobody else.
 */
final class Authority {
  private static final String PASSWORD = "changeit";
  private static final String SIGNER = "authority";

  private final Sandbox sandbox;
  private final Path store;
  private final Path certificate;

  private Authority(Sandbox sandbox, Path folder) {
    this.sandbox = sandbox;
    store = folder.resolve("store.p12");
    certificate = folder.resolve("authority.pem");
  }

  /** A certificate, its key, and the authority's certificate. */
  record Certified(Path certificate, Path key, Path authority) {
    /** The options that make a node use them. */
    List<String> options() {
      return List.of(
          "--tls-cert",
          certificate.toString(),
          "--tls-key",
          key.toString(),
          "--tls-ca",
          authority.toString());
    }
  }

  static Authority create(Sandbox sandbox, String name) {
    Authority authority = new Authority(sandbox, sandbox.folder(name));
    authority.generate(SIGNER, "-1d", List.of("-ext", "bc:c", "-validity", "9"));
    authority.write(authority.certificate, "CERTIFICATE", authority.encoded(SIGNER));
    return authority;
  }

  /** A certificate that has been valid since yesterday, for tomorrow too. */
  Certified issue(String address) {
    return issue(address, "-1d");
  }

  /** A certificate that was valid for two days a while ago. */
  Certified issueExpired(String address) {
    return issue(address, "-5d");
  }

  private Certified issue(String address, String start) {
    String alias = "node-" + address + start;
    generate(
        alias, start, List.of("-signer", SIGNER, "-ext", "san=ip:" + address, "-validity", "2"));
    Path folder = store.getParent();
    Path own = folder.resolve(alias + ".pem");
    Path key = folder.resolve(alias + ".key");
    write(own, "CERTIFICATE", encoded(alias));
    write(key, "PRIVATE KEY", key(alias).getEncoded());
    return new Certified(own, key, certificate);
  }

  private void generate(String alias, String start, List<String> more) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin/keytool").toString(),
                "-J-XX:+UseSerialGC",
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-alias",
                alias,
                "-dname",
                "CN=" + alias,
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-startdate",
                start,
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-keystore",
                store.toString()));
    command.addAll(more);
    sandbox.command(command.toArray(String[]::new)).mustSucceed();
  }

  private byte[] encoded(String alias) {
    try {
      return load().getCertificate(alias).getEncoded();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private Key key(String alias) {
    try {
      return load().getKey(alias, PASSWORD.toCharArray());
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private KeyStore load() throws GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return keys;
  }

  private void write(Path file, String what, byte[] content) {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(
          file, "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(what, text, what), US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
