package io.holdfast.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.bouncycastle.crypto.digests.SHA256Digest;
import org.bouncycastle.crypto.generators.HKDFBytesGenerator;
import org.bouncycastle.crypto.params.HKDFParameters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ClusterSecretTest {
  private static final String SECRET = "0123456789abcdef";
  @TempDir private Path directory;

  private Path file(String content, String mode) throws IOException {
    Path file = Files.writeString(directory.resolve("secret"), content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void read_whiteSpaceAtTheEnds_doesNotCount() throws Exception {
    byte[] key = ClusterSecret.read(file("\t " + SECRET + "\r\n", "rw-------")).key("x");
    assertThat(ClusterSecret.of("test", SECRET.getBytes(StandardCharsets.US_ASCII)).key("x"))
        .isEqualTo(key);
  }

  @Test
  void key_isHkdfOfTheSecret() throws Exception {
    byte[] secret = SECRET.getBytes(StandardCharsets.US_ASCII);
    HKDFBytesGenerator hkdf = new HKDFBytesGenerator(new SHA256Digest());
    hkdf.init(
        new HKDFParameters(
            secret,
            "holdfast cluster".getBytes(StandardCharsets.US_ASCII),
            "a purpose".getBytes(StandardCharsets.US_ASCII)));
    byte[] expected = new byte[32];
    hkdf.generateBytes(expected, 0, expected.length);
    ClusterSecret ours = ClusterSecret.of("test", secret);
    assertThat(ours.key("a purpose")).isEqualTo(expected);
    assertThat(ours.key("another")).isNotEqualTo(expected);
    assertThat(ours).hasToString("cluster secret");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw-rw-rw-", "rw--w----", "rwx-----x"})
  void read_othersMay_isRefused(String mode) throws Exception {
    Path file = file(SECRET, mode);
    assertRefused(file, "can be read by others: run 'chmod 600 " + file);
  }

  @Test
  void read_noSecret_isRefused() throws Exception {
    assertRefused(directory.resolve("missing"), "does not exist: make one with");
    assertRefused(file(SECRET.substring(1) + "   \n", "rw-------"), "has 15 bytes");
    assertRefused(file("", "rw-------"), "has 0 bytes");
    assertRefused(file("x".repeat(4097), "rw-------"), "is no file of at most 4096 bytes");
    Path folder =
        Files.createDirectory(
            directory.resolve("folder"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    assertRefused(folder, "is no file");
  }

  private static void assertRefused(Path file, String text) {
    assertThatExceptionOfType(PeerSetupException.class)
        .isThrownBy(() -> ClusterSecret.read(file))
        .withMessageContaining(text)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n").doesNotContain(SECRET));
  }
}
