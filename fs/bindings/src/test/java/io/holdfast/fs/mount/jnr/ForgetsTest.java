package io.holdfast.fs.mount.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Opcode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ForgetsTest {
  private static final Set<Long> KEPT = Set.of(5L, 7L);

  private final KeptDirectories directories = new KeptDirectories((number, lookups) -> {});
  private final Pointer memory =
      jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), 256, true);
  private final long request = memory.address();

  @BeforeEach
  void keep() {
    KEPT.forEach(number -> directories.add(100 + number, number));
  }

  /**
   * libfuse ends the process when it is told of a directory that it has freed: which it may have by
   * the time that it is told.
   */
  @Test
  void forget_ofAKeptDirectory_isForgettingTheRoot() {
    for (long node = 4; node < 9; node++) {
      Memory.putInt(request + Request.OPCODE, Opcode.FORGET.code());
      Memory.putLong(request + Request.NODEID, node);
      Memory.putLong(request + 40, 3);
      Forgets.keep(request, 48, directories);
      assertThat(Memory.getLong(request + 40)).isEqualTo(KEPT.contains(node) ? 0 : 3);
      assertThat(Memory.getLong(request + Request.NODEID))
          .isEqualTo(KEPT.contains(node) ? Request.ROOT : node);
    }
  }

  @Test
  void batch_withKeptDirectories_forgetsTheOthers() {
    Memory.putInt(request + Request.OPCODE, Opcode.BATCH_FORGET.code());
    Memory.putInt(request + 40, 5);
    for (int i = 0; i < 5; i++) {
      Memory.putLong(request + 48 + 16L * i, 4 + i);
      Memory.putLong(request + 56 + 16L * i, 10 + i);
    }
    Forgets.keep(request, 48 + 16 * 5, directories);
    for (int i = 0; i < 5; i++) {
      boolean kept = KEPT.contains(4L + i);
      assertThat(Memory.getLong(request + 48 + 16L * i)).isEqualTo(kept ? Request.ROOT : 4 + i);
      long forgotten = kept ? 0 : 10 + i;
      assertThat(Memory.getLong(request + 56 + 16L * i)).isEqualTo(forgotten);
    }
  }

  /** The number of entries is the kernel's word; what lies behind the request is not touched. */
  @Test
  void batch_shorterThanItSays_isReadToItsEndOnly() {
    Memory.putInt(request + Request.OPCODE, Opcode.BATCH_FORGET.code());
    Memory.putInt(request + 40, -1);
    for (int i = 0; i < 3; i++) {
      Memory.putLong(request + 48 + 16L * i, 5);
      Memory.putLong(request + 56 + 16L * i, 1);
    }
    Forgets.keep(request, 48 + 16 * 2, directories);
    assertThat(Memory.getLong(request + 56 + 16)).isZero();
    assertThat(Memory.getLong(request + 56 + 32)).isEqualTo(1);
  }

  @Test
  void forget_ofANumber_isARequestAsTheKernelSendsIt() {
    List<Long> told = new ArrayList<>();
    Forgets.forget(
        5,
        3,
        (message, length) -> {
          told.add(length);
          told.add((long) Memory.getInt(message));
          told.add((long) Memory.getInt(message + Request.OPCODE));
          told.add(Memory.getLong(message + Request.NODEID));
          told.add(Memory.getLong(message + 40));
        });
    assertThat(told).containsExactly(48L, 48L, (long) Opcode.FORGET.code(), 5L, 3L);
  }
}
