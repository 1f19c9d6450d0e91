package io.holdfast.fs.mount.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.StoreFigures;
import java.time.Duration;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each field where the kernel looks for it; see include/uapi/linux/fuse.h. */
final class WireTest {
  private static final int SOIL = 0xee;
  private static final Attributes FILE =
      new Attributes(
          0x81a4, 3, 1000, 1001, 0x10302, 77, 5_000, 16, 1_000_000_001L, -1L, 3_500_000_000L, "");

  private final Pointer memory =
      jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), 512, true);
  private final long at = memory.address();

  @BeforeEach
  void soil() {
    for (int i = 0; i < 512; i++) {
      Memory.putByte(at + i, SOIL);
    }
  }

  @Test
  void entry_fields_areWhereTheKernelLooks() {
    Wire.entry(at, 99, FILE, Duration.ofMillis(1_500));
    assertThat(Memory.getLong(at)).isEqualTo(99);
    assertThat(Memory.getLong(at + 8)).as("generation").isZero();
    assertThat(Memory.getLong(at + 16)).isEqualTo(1);
    assertThat(Memory.getLong(at + 24)).isEqualTo(1);
    assertThat(Memory.getInt(at + 32)).isEqualTo(500_000_000);
    assertThat(Memory.getInt(at + 36)).isEqualTo(500_000_000);
    assertAttributes(at + 40);
    assertThat(Memory.getByte(at + Wire.ENTRY)).as("what is behind it").isEqualTo(SOIL);
  }

  @Test
  void attrOut_fields_areWhereTheKernelLooks() {
    Wire.attrOut(at, FILE, Duration.ofHours(1));
    assertThat(Memory.getLong(at)).isEqualTo(3_600);
    assertThat(Memory.getInt(at + 8)).isZero();
    assertAttributes(at + 16);
    assertThat(Memory.getByte(at + Wire.ATTR_OUT)).isEqualTo(SOIL);
  }

  private static void assertAttributes(long attr) {
    assertThat(Memory.getLong(attr)).isEqualTo(77);
    assertThat(Memory.getLong(attr + 8)).isEqualTo(5_000);
    assertThat(Memory.getLong(attr + 16)).isEqualTo(16);
    assertThat(Memory.getLong(attr + 24)).isEqualTo(1);
    assertThat(Memory.getInt(attr + 48)).isEqualTo(1);
    assertThat(Memory.getLong(attr + 32)).as("before 1970").isEqualTo(-1);
    assertThat(Memory.getInt(attr + 52)).isEqualTo(999_999_999);
    assertThat(Memory.getLong(attr + 40)).isEqualTo(3);
    assertThat(Memory.getInt(attr + 56)).isEqualTo(500_000_000);
    assertThat(Memory.getInt(attr + 60)).isEqualTo(0x81a4);
    assertThat(Memory.getInt(attr + 64)).isEqualTo(3);
    assertThat(Memory.getInt(attr + 68)).isEqualTo(1000);
    assertThat(Memory.getInt(attr + 72)).isEqualTo(1001);
    assertThat(Memory.getInt(attr + 76)).isEqualTo(0x10302);
    assertThat(Memory.getInt(attr + 80)).isEqualTo(4096);
    assertThat(Memory.getInt(attr + 84)).isZero();
  }

  @Test
  void missing_isANodeOfZeroThatMayBeRemembered() {
    Wire.missing(at, Duration.ofSeconds(7));
    assertThat(Memory.getLong(at)).isZero();
    assertThat(Memory.getLong(at + 16)).isEqualTo(7);
  }

  @Test
  void dirent_name_isPaddedToEight() {
    byte[] name = "seventeen letters".getBytes(UTF_8);
    assertThat(Wire.direntSize(name)).isEqualTo(48);
    Wire.dirent(at, name, Attributes.DIRECTORY, 5, 3);
    assertThat(Memory.getLong(at)).isEqualTo(5);
    assertThat(Memory.getLong(at + 8)).isEqualTo(3);
    assertThat(Memory.getInt(at + 16)).isEqualTo(17);
    assertThat(Memory.getInt(at + 20)).as("DT_DIR").isEqualTo(4);
    assertThat(Memory.bytes(at + 24, 17)).isEqualTo(name);
    assertThat(Memory.bytes(at + 41, 7)).containsOnly(0);
    assertThat(Memory.getByte(at + 48)).isEqualTo(SOIL);
    assertThat(Wire.direntSize(new byte[8])).isEqualTo(32);
  }

  @Test
  void statfs_fields_areWhereTheKernelLooks() {
    Wire.statfs(at, new StoreFigures(4096, 512, 100, 90, 80, 70, 60, 50, 255));
    assertThat(Memory.getLong(at)).isEqualTo(100);
    assertThat(Memory.getLong(at + 8)).isEqualTo(90);
    assertThat(Memory.getLong(at + 16)).isEqualTo(80);
    assertThat(Memory.getLong(at + 24)).isEqualTo(70);
    assertThat(Memory.getLong(at + 32)).isEqualTo(60);
    assertThat(Memory.getInt(at + 40)).isEqualTo(4096);
    assertThat(Memory.getInt(at + 44)).isEqualTo(255);
    assertThat(Memory.getInt(at + 48)).isEqualTo(512);
    assertThat(Memory.bytes(at + 52, 28)).containsOnly(0);
  }
}
