package io.holdfast.fs.mount.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The next daemon finds the requests that one daemon has received and not answered. */
final class InFlightTest {
  @TempDir private Path directory;

  @Test
  void requests_notGivenBack_areThereForTheNext() throws FsException {
    Path file = directory.resolve("requests");
    try (GrowingMemory memory = GrowingMemory.at(file)) {
      InFlight requests = new InFlight(memory);
      assertThat(requests.left()).isEmpty();
      for (int i = 1; i <= 1000; i++) {
        long request = requests.take();
        Memory.putInt(request, 80);
        Memory.putLong(request + Wire.UNIQUE, i);
        // as full as the kernel may make it
        Memory.putLong(request + InFlight.CAPACITY - Long.BYTES, 0);
        if (i % 3 == 0) {
          requests.give(request);
        }
      }
    }
    try (GrowingMemory memory = GrowingMemory.at(file)) {
      InFlight requests = new InFlight(memory);
      Set<Long> expected = new HashSet<>();
      for (long i = 1; i <= 1000; i++) {
        if (i % 3 != 0) {
          expected.add(i);
        }
      }
      Set<Long> found = new HashSet<>();
      requests.left().forEach(request -> found.add(Memory.getLong(request + Wire.UNIQUE)));
      assertThat(found).isEqualTo(expected);
    }
  }

  /**
   * A daemon that was killed as it received its first requests let readers see EIO: the kernel
   * could not bring in the page that it was to write a request to, since the process was ending.
   */
  @Test
  void slots_ofThisDaemonAndTheOneBefore_areThereBeforeTheKernelWritesToThem() throws IOException {
    Path file = directory.resolve("requests");
    try (GrowingMemory memory = GrowingMemory.at(file)) {
      InFlight requests = new InFlight(memory);
      for (int i = 0; i < 20; i++) {
        long request = requests.take();
        assertThere(request);
        Memory.putInt(request, 40);
      }
    }
    try (GrowingMemory memory = GrowingMemory.at(file)) {
      InFlight requests = new InFlight(memory);
      assertThat(requests.left()).hasSize(20);
      for (long request : requests.left()) {
        assertThere(request);
      }
    }
  }

  private static void assertThere(long request) throws IOException {
    try (RandomAccessFile pages = new RandomAccessFile("/proc/self/pagemap", "r")) {
      long last = (request + InFlight.CAPACITY - 1) / Linux.PAGE_SIZE;
      for (long page = request / Linux.PAGE_SIZE; page <= last; page++) {
        pages.seek(page * Long.BYTES);
        byte[] entry = new byte[Long.BYTES];
        pages.readFully(entry);
        // little endian: "present" is the highest bit of the last byte
        assertThat(entry[Long.BYTES - 1] & 0x80).isEqualTo(0x80);
      }
    }
  }

  @Test
  void slots_givenBack_areUsedAgain() throws FsException {
    try (GrowingMemory memory = GrowingMemory.ofProcess("test")) {
      InFlight requests = new InFlight(memory);
      Set<Long> seen = new HashSet<>();
      for (int i = 0; i < 10_000; i++) {
        long request = requests.take();
        seen.add(request);
        Memory.putInt(request, 40);
        requests.give(request);
        assertThat(Memory.getInt(request)).isZero();
      }
      assertThat(seen).hasSize(1);
    }
  }
}
