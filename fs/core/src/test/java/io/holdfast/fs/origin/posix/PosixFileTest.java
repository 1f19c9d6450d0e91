package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.Failures.assertFails;
import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Scratch;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads in pieces, as of a network filesystem. */
final class PosixFileTest {
  private static final int SIZE = 3 << 20;
  private static final int O_WRONLY = 1;

  @TempDir private Path directory;

  private final ExecutorService readers = PosixFile.readers();
  private final AtomicInteger pieces = new AtomicInteger();

  @AfterEach
  void end() {
    readers.shutdown();
  }

  private PosixFile open(byte[] content) throws IOException {
    Executor counting =
        task -> {
          pieces.incrementAndGet();
          readers.execute(task);
        };
    return open(content, Linux.O_RDONLY, counting, Statx::attributes);
  }

  private PosixFile open(
      byte[] content, int access, Executor threads, Supplier<Attributes> attributes)
      throws IOException {
    Path path = directory.resolve("file");
    Files.write(path, content);
    Scratch scratch = Linux.scratch();
    Memory.putString(scratch.path(), Linux.pathBytes(path.toString()));
    int fd = LIBC.openat(Linux.AT_FDCWD, scratch.path(), access | Linux.O_CLOEXEC, 0);
    assertThat(fd).isNotNegative();
    return new PosixFile(OriginPath.of("file"), fd, true, threads, attributes);
  }

  private static byte[] read(PosixFile file, long offset, int length) throws FsException {
    long address = LIBC.malloc(length);
    try {
      return Memory.bytes(address, file.read(offset, address, length));
    } finally {
      LIBC.free(address);
    }
  }

  @Test
  void read_ofAnyRange_hasItsBytes() throws IOException {
    long seed = Seeds.next("read_ofAnyRange");
    Random random = new Random(seed);
    byte[] content = new byte[SIZE - random.nextInt(1000)];
    random.nextBytes(content);
    try (PosixFile file = open(content)) {
      for (int i = 0; i < 100; i++) {
        int offset = random.nextInt(content.length);
        int length = 1 + random.nextInt(SIZE);
        assertThat(read(file, offset, length))
            .as("seed %d", seed)
            .isEqualTo(
                Arrays.copyOfRange(content, offset, Math.min(content.length, offset + length)));
      }
    }
  }

  @Test
  void read_ofAMebibyte_isOfEightPieces() throws IOException {
    try (PosixFile file = open(new byte[SIZE])) {
      assertThat(read(file, 0, 1 << 20)).hasSize(1 << 20);
      assertThat(pieces).as("besides the one that the reader reads").hasValue(7);
      assertThat(read(file, 0, 100_000)).hasSize(100_000);
      assertThat(pieces).hasValue(7);
    }
  }

  @Test
  void read_thatFails_fails() throws IOException {
    PosixFile file = open(new byte[SIZE]);
    file.close();
    assertFails(() -> read(file, 0, 1 << 20), FsError.IO);
  }

  /**
   * A read that failed at once left its first pieces writing to memory that its caller then freed,
   * and another fetch got that memory.
   */
  @Test
  void read_noThreadForSomePieces_waitsForTheOthers() throws IOException {
    byte[] content = new byte[1 << 20];
    new Random(1).nextBytes(content);
    Thread reader = Thread.currentThread();
    Executor threads =
        task -> {
          if (pieces.incrementAndGet() > 2) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          readers.execute(
              () -> {
                Await.until("the reader waits", () -> reader.getState() == Thread.State.WAITING);
                task.run();
              });
        };
    try (PosixFile file = open(content, Linux.O_RDONLY, threads, Statx::attributes)) {
      assertThat(read(file, 0, content.length)).isEqualTo(content);
    }
  }

  /** A piece that ended in an error left the read, or the read waited for that piece for ever. */
  @Test
  void read_piecesMeetAnError_fails() throws IOException {
    Supplier<Attributes> full =
        () -> {
          throw new OutOfMemoryError("Java heap space");
        };
    try (PosixFile file = open(new byte[SIZE], O_WRONLY, readers, full)) {
      assertFails(() -> read(file, 0, 1 << 20), FsError.IO);
    }
  }
}
