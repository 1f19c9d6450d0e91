package io.holdfast.fs.bpf;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.nio.charset.StandardCharsets;

/**
 * Writes opens to a ring of the kernel, for tests: by programs that the kernel takes also where it
 * takes none that see its functions (filters of sockets, which it runs once on request). Each
 * thread has descriptors of its own, so a ring and its writer belong to one.
 */
public final class RingWriter {
  private static final int PROG_LOAD = 5;
  private static final int PROG_TEST_RUN = 10;
  private static final int SOCKET_FILTER = 1;
  private static final int PACKET = 64;

  private int ring;
  private int lost;

  /** Tells whether the kernel and the rights of this process bear it. */
  public static boolean isPermitted() {
    try {
      new RingWriter().create().close();
      return true;
    } catch (FsException e) {
      return false;
    }
  }

  /** Creates a ring, and finds out that this can write to it. */
  public OpenRing create() throws FsException {
    return OpenRing.create(
        "holdfast_test",
        (ringFd, lostFd) -> {
          ring = ringFd;
          lost = lostFd;
          int program = load(0, 0, 0);
          if (program < 0) {
            throw Linux.failure(-program, "bpf(2)");
          }
          return program;
        });
  }

  /** Writes an open some times. */
  public void write(int thread, int inode, int size, int times) throws FsException {
    int program = load(thread, inode, size);
    long area = Linux.scratch().area();
    Memory.clear(area, 256);
    Memory.putInt(area, program);
    Memory.putInt(area + 8, PACKET);
    Memory.putLong(area + 16, area + 128);
    Memory.putInt(area + 32, times);
    long result = LIBC.syscall(number(), PROG_TEST_RUN, area, 48, 0);
    int errno = Linux.errno();
    LIBC.close(program);
    if (result != 0) {
      throw Linux.failure(errno, "BPF_PROG_TEST_RUN");
    }
  }

  /** Returns a descriptor, or a negative errno. */
  private int load(int thread, int inode, int size) throws FsException {
    Program record =
        new Program()
            .set(Program.VALUE, thread)
            .store64(Program.STACK, OpenRing.THREAD - OpenRing.RECORD, Program.VALUE)
            .set(Program.VALUE, inode)
            .store64(Program.STACK, OpenRing.INODE - OpenRing.RECORD, Program.VALUE)
            .set(Program.VALUE, size)
            .store64(Program.STACK, OpenRing.SIZE - OpenRing.RECORD, Program.VALUE);
    long[] program = OpenProgram.output(record, ring, lost);
    long area = Linux.scratch().area();
    Memory.clear(area, 128);
    Memory.putInt(area, SOCKET_FILTER);
    Memory.putInt(area + 4, program.length);
    Memory.putLong(area + 8, area + 256);
    for (int i = 0; i < program.length; i++) {
      Memory.putLong(area + 256 + (long) i * Long.BYTES, program[i]);
    }
    Memory.putString(area + 200, "GPL".getBytes(StandardCharsets.US_ASCII));
    Memory.putLong(area + 16, area + 200);
    long result = LIBC.syscall(number(), PROG_LOAD, area, 128, 0);
    return result < 0 ? -Linux.errno() : (int) result;
  }

  private static int number() {
    return System.getProperty("os.arch").equals("amd64") ? 321 : 280;
  }
}
