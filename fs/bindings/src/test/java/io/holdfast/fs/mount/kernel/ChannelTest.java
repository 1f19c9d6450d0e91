package io.holdfast.fs.mount.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.NativeBytes;
import io.holdfast.fs.linux.Memory;
import java.nio.ByteBuffer;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.junit.jupiter.api.Test;

/** Messages to the kernel that it has not asked for. */
final class ChannelTest {
  private static final int NOTIFY_STORE = 4;

  private final Pointer bytes =
      jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), 100, true);

  @Test
  void store_isOneMessage_ofNodePlaceAndBytes() {
    try (FakeKernel kernel = new FakeKernel()) {
      Channel channel = new Channel(kernel.descriptor());
      for (int i = 0; i < 100; i++) {
        Memory.putByte(bytes.address() + i, (byte) i);
      }
      assertThat(channel.store(77, 8L << 30, NativeBytes.at(bytes.address(), 100))).isZero();

      FakeKernel.Reply message = kernel.receive();
      assertThat(message.unique()).isZero();
      assertThat(message.error()).isEqualTo(NOTIFY_STORE);
      ByteBuffer body = message.body();
      assertThat(body.remaining()).isEqualTo(24 + 100);
      assertThat(body.getLong(0)).isEqualTo(77);
      assertThat(body.getLong(8)).isEqualTo(8L << 30);
      assertThat(body.getInt(16)).isEqualTo(100);
      assertThat(body.getInt(20)).isZero();
      for (int i = 0; i < 100; i++) {
        assertThat(body.get(24 + i)).isEqualTo((byte) i);
      }
      kernel.closeDaemonsEnd();
    }
  }
}
