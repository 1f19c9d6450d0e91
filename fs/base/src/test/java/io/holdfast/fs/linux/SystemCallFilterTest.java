package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.SystemCallFilter.Architecture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the filter's instructions answer, as linux/filter.h says that they are carried out. */
class SystemCallFilterTest {
  private static final long TCGETS = SystemCallFilter.TCGETS;
  private static final int TRIALS = 100_000;

  @ParameterizedTest
  @EnumSource
  void question_aboutAFile_isAnswered(Architecture own) {
    for (long request : new long[] {TCGETS, SystemCallFilter.TCGETS2}) {
      for (long descriptor : new long[] {3, 4, 1000, Integer.MAX_VALUE, -1}) {
        assertThat(answer(own, own.audit, own.ioctl, descriptor, request))
            .as("%d, %x", descriptor, request)
            .isEqualTo(SystemCallFilter.NO_TERMINAL);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void question_aboutInputAndOutputs_isTheKernels(Architecture own) {
    for (int descriptor = 0; descriptor < 3; descriptor++) {
      assertThat(answer(own, own.audit, own.ioctl, descriptor, TCGETS))
          .isEqualTo(SystemCallFilter.ALLOW);
    }
  }

  /** The same number is another call for 32-bit programs, and for the other processor. */
  @ParameterizedTest
  @EnumSource
  void call_ofAnotherArchitecture_isAllowed(Architecture own) {
    for (int other : new int[] {0x40000003, 0x40000028, ~own.audit}) {
      assertThat(answer(own, other, own.ioctl, 5, TCGETS)).isEqualTo(SystemCallFilter.ALLOW);
    }
    assertThat(answer(own, own.audit, own.ioctl | 0x40000000, 5, TCGETS))
        .as("x32")
        .isEqualTo(SystemCallFilter.ALLOW);
  }

  @Test
  void anyOtherCall_isAllowed() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < TRIALS; i++) {
      Architecture own = random.nextBoolean() ? Architecture.X86_64 : Architecture.AARCH64;
      int call = random.nextBoolean() ? own.ioctl : random.nextInt(500);
      long request = random.nextBoolean() ? 0x5400 + random.nextInt(100) : random.nextLong();
      long descriptor = random.nextBoolean() ? random.nextInt(6) : random.nextLong();
      // the kernel takes the lower half of both
      boolean asks =
          call == own.ioctl
              && ((int) request == SystemCallFilter.TCGETS
                  || (int) request == SystemCallFilter.TCGETS2)
              && Integer.compareUnsigned((int) descriptor, 3) >= 0;
      assertThat(answer(own, own.audit, call, descriptor, request))
          .as("seed %d, call %d, request %x, descriptor %x", seed, call, request, descriptor)
          .isEqualTo(asks ? SystemCallFilter.NO_TERMINAL : SystemCallFilter.ALLOW);
    }
  }

  /** Carries the program out on a call; its own error where an instruction is none that is used. */
  private static int answer(Architecture own, int audit, int call, long descriptor, long request) {
    ByteBuffer data = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    data.putInt(call).putInt(audit).putLong(0x7fff_1234_5678L).putLong(descriptor).putLong(request);
    long[] program = SystemCallFilter.program(own);
    int accumulator = 0;
    int next = 0;
    while (true) {
      long instruction = program[next++];
      int value = (int) (instruction >> 32);
      int ifTrue = (int) (instruction >> 16 & 0xff);
      int ifFalse = (int) (instruction >> 24 & 0xff);
      switch ((int) instruction & 0xffff) {
        case 0x20 -> accumulator = data.getInt(value);
        case 0x15 -> next += accumulator == value ? ifTrue : ifFalse;
        case 0x35 -> next += Integer.compareUnsigned(accumulator, value) >= 0 ? ifTrue : ifFalse;
        case 0x06 -> {
          return value;
        }
        default -> throw new AssertionError("instruction " + Long.toHexString(instruction));
      }
    }
  }
}
