package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DatagramSocketTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @TempDir Path folder;

  @Test
  void text_toSocketInDirectory_arrives() {
    String address = folder.resolve("notify").toString();
    try (DatagramReceiver receiver = new DatagramReceiver(address)) {
      assertThat(new DatagramSocket(address).send("READY=1\nSTATUS=größer")).isZero();
      assertThat(receiver.next(DEADLINE)).isEqualTo("READY=1\nSTATUS=größer");
    }
  }

  @Test
  void text_toSocketInNoDirectory_arrives() {
    String address = "@holdfast-test-" + ProcessHandle.current().pid();
    try (DatagramReceiver receiver = new DatagramReceiver(address)) {
      assertThat(new DatagramSocket(address).send("STOPPING=1")).isZero();
      assertThat(receiver.next(DEADLINE)).isEqualTo("STOPPING=1");
    }
  }

  @Test
  void text_toNobody_isAnError() {
    String address = folder.resolve("gone").toString();
    assertThat(new DatagramSocket(address).send("x")).isEqualTo(Errno.ENOENT.intValue());
  }

  @Test
  void receiver_thatDoesNotRead_isNotWaitedFor() {
    String address = folder.resolve("full").toString();
    try (DatagramReceiver receiver = new DatagramReceiver(address)) {
      DatagramSocket socket = new DatagramSocket(address);
      int errno = 0;
      for (int i = 0; i < 100_000 && errno == 0; i++) {
        errno = socket.send("x");
      }
      assertThat(errno).isEqualTo(Errno.EAGAIN.intValue());
      assertThat(receiver.next(DEADLINE)).isEqualTo("x");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/", "@", "relative", "vsock:2:1234"})
  void address_ofAnotherKind_isRefused(String address) {
    assertThatThrownBy(() -> new DatagramSocket(address))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + address + "'");
  }
}
