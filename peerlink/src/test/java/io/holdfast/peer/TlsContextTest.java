package io.holdfast.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TlsContextTest {
  @TempDir private Path directory;
  private TestAuthority authority;

  @BeforeEach
  void setUp() {
    authority = new TestAuthority(directory, "ours");
  }

  @Test
  void of_goodFiles_isAContext() throws PeerSetupException {
    TlsFiles files =
        authority.issue("127.0.0.2", "::1", "node1.example.org", "*.nodes.example.org");
    for (String host :
        new String[] {
          "127.0.0.2", "::1", "0:0:0:0:0:0:0:1", "NODE1.example.org", "a.nodes.example.org"
        }) {
      assertThat(TlsContext.of(files, host).getProtocol()).isEqualTo("TLS");
    }
  }

  @Test
  void of_anotherName_isRefused() {
    TlsFiles files = authority.issue("127.0.0.2", "node1", "*.nodes.example.org");
    for (String host :
        new String[] {
          "127.0.0.3", "node2", "::1", "a.b.nodes.example.org", "nodes.example.org", "12.7"
        }) {
      assertRefused(files, host, "is not for '" + host + "'");
    }
    assertRefused(authority.issue(), "node1", "is not for 'node1'");
  }

  /**
   * A peer says which host it is. Its certificate was compared with texts that only the resolver
   * understands, and so an event loop waited for name servers.
   */
  @Test
  void of_hostThatIsNoAddressInFull_isRefused() {
    TlsFiles files = authority.issue("12.0.0.7", "1.1.1.1");
    for (String host : new String[] {"12.7", "1.1.1.1.7", "999.1.1.1", "1"}) {
      assertRefused(files, host, "is not for '" + host + "'");
    }
  }

  @Test
  void of_notNow_isRefused() {
    Instant now = Instant.now();
    Duration hour = Duration.ofHours(1);
    assertRefused(authority.issue(now.minusSeconds(7200), hour, "node1"), "node1", "expired at 20");
    assertRefused(
        authority.issue(now.plusSeconds(3600), hour, "node1"), "node1", "is not valid before 20");
  }

  @Test
  void of_keyOfAnother_isRefused() {
    TlsFiles one = authority.issue("node1");
    TlsFiles two = authority.issue("node1");
    assertRefused(
        new TlsFiles(one.certificate(), two.key(), one.authority()), "node1", "does not belong to");
  }

  @Test
  void of_otherAuthority_isRefused() {
    TlsFiles other = new TestAuthority(directory, "other").issue("node1");
    TlsFiles one = authority.issue("node1");
    assertRefused(
        new TlsFiles(one.certificate(), one.key(), other.authority()),
        "node1",
        "will not be accepted with the authority");
  }

  @Test
  void of_filesThatAreNone_areRefused() throws IOException {
    TlsFiles one = authority.issue("node1");
    Path missing = directory.resolve("missing.pem");
    Path text = Files.writeString(directory.resolve("text.pem"), "hello\n");
    Path broken =
        Files.writeString(
            directory.resolve("broken.pem"),
            "-----BEGIN CERTIFICATE-----\nAAAA%%\n-----END CERTIFICATE-----\n");
    Path binary = Files.write(directory.resolve("x.der"), new byte[] {0x30, (byte) 0x82, -1, 10});
    assertRefused(new TlsFiles(missing, one.key(), one.authority()), "node1", "does not exist");
    for (Path each : new Path[] {text, broken, binary, one.key()}) {
      assertRefused(new TlsFiles(each, one.key(), one.authority()), "node1", each.toString());
      assertRefused(new TlsFiles(one.certificate(), one.key(), each), "node1", each.toString());
    }
    for (Path each : new Path[] {text, broken, binary, one.certificate()}) {
      assertRefused(
          new TlsFiles(one.certificate(), each, one.authority()), "node1", each.toString());
    }
    assertRefused(new TlsFiles(directory, one.key(), one.authority()), "node1", "cannot be read");
    assertRefused(
        new TlsFiles(one.certificate(), directory, one.authority()), "node1", "is no file");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rwxrwxrwx"})
  void of_keyThatOthersMayReadOrWrite_isRefused(String mode) throws IOException {
    TlsFiles one = authority.issue("node1");
    Files.setPosixFilePermissions(one.key(), PosixFilePermissions.fromString(mode));
    assertRefused(one, "node1", "can be read by others: run 'chmod 600 " + one.key());
  }

  @Test
  void of_keyThatTheOwnerMayOnlyRead_isTaken() throws Exception {
    TlsFiles one = authority.issue("node1");
    Files.setPosixFilePermissions(one.key(), PosixFilePermissions.fromString("r--------"));
    assertThat(TlsContext.of(one, "node1").getProtocol()).isEqualTo("TLS");
  }

  @Test
  void of_keyWithAPassword_isRefused() throws IOException {
    TlsFiles one = authority.issue("node1");
    Path locked =
        Files.writeString(
            directory.resolve("locked.pem"),
            """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgRUDGBWoClPAICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEElR2CJSHIO5hIIQz4Tjbu8EgZC/
            R0S4yKSSxmAk26qdZiCUkja30BCLW2qmrX6iNRA1+dYacJ3coexLI7E6zP9eXQVb
            5Q9x6G4manyl8Ath73G4HjgisqVPiSqlWWjKvS164h9lHWDV7gA6hwp0jSl74CdN
            OM9VlrWeM7Og1q9m0kwHIXYyXVopb69+uLGfl/rbEqrFlFLnctvVxhLnrhwKuSQ=
            -----END ENCRYPTED PRIVATE KEY-----
            """);
    Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("rw-------"));
    assertRefused(
        new TlsFiles(one.certificate(), locked, one.authority()), "node1", "has a password");
  }

  private static void assertRefused(TlsFiles files, String host, String text) {
    assertThatExceptionOfType(PeerSetupException.class)
        .isThrownBy(() -> TlsContext.of(files, host))
        .withMessageContaining(text)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
  }
}
