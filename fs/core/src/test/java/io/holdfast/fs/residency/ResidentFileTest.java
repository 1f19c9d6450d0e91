package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.linux.GrowingMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ResidentFileTest {
  @TempDir private Path directory;
  private Path file;

  /** The offset of the first record in the file, behind its header and the format. */
  private static final int RECORDS = 4096 + 8;

  @BeforeEach
  void name() {
    file = directory.resolve("residents");
  }

  @Test
  void randomChanges_openedAgain_giveWhatIsResident() throws FsException {
    long seed = System.nanoTime();
    System.out.println("randomChanges_openedAgain: seed " + seed);
    Random random = new Random(seed);
    Set<ItemKey> model = new LinkedHashSet<>();
    for (int daemon = 0; daemon < 5; daemon++) {
      try (ResidentFile log = ResidentFile.open(file, List.of())) {
        assertThat(log.before()).isEqualTo(List.copyOf(model));
        for (int i = 0; i < 100_000; i++) {
          long node = Long.MAX_VALUE - random.nextInt(20_000);
          ItemKey item = new ItemKey(node, random.nextInt(3) * (Long.MAX_VALUE / 2));
          if (model.remove(item)) {
            log.released(item);
          } else {
            log.reserve();
            log.admitted(item);
            model.add(item);
          }
        }
      }
    }
  }

  /** A daemon says of each item that it takes over that it is resident, as of a new one. */
  @Test
  void takenOver_andReleased_isGone() throws FsException {
    write(new ItemKey(1, 0), new ItemKey(2, 5), new ItemKey(3, 0));
    try (ResidentFile log = ResidentFile.open(file, List.of())) {
      for (ItemKey item : log.before()) {
        log.reserve();
        log.admitted(item);
      }
      log.released(new ItemKey(2, 5));
    }
    assertThat(left()).containsExactly(new ItemKey(1, 0), new ItemKey(3, 0));
  }

  private long reserved() throws FsException {
    try (GrowingMemory same = GrowingMemory.at(file)) {
      return same.reserved();
    }
  }

  /** The daemon compacted the log only at its start: it grew for as long as the daemon ran. */
  @Test
  void manyChanges_ofFewResidents_keepTheLogShort() throws FsException {
    Random random = new Random(Seeds.next("manyChanges"));
    Set<ItemKey> model = new LinkedHashSet<>();
    try (ResidentFile log = ResidentFile.open(file, List.of())) {
      for (int i = 0; i < 1_000_000; i++) {
        ItemKey item = new ItemKey(1 + random.nextInt(1000), 0);
        if (model.remove(item)) {
          log.released(item);
        } else {
          log.reserve();
          log.admitted(item);
          model.add(item);
        }
      }
      assertThat(reserved()).isLessThan(5 << 20);
    }
    assertThat(left()).isEqualTo(List.copyOf(model));
  }

  /** A resident of the daemon before counted twice, and took the room of two. */
  @Test
  void takenOver_takeNoMoreRoom() throws FsException {
    ItemKey[] items = new ItemKey[20_000];
    Arrays.setAll(items, node -> new ItemKey(1 + node, 0));
    write(items);
    try (ResidentFile log = ResidentFile.open(file, List.of())) {
      long before = reserved();
      for (ItemKey item : log.before()) {
        log.reserve();
        log.admitted(item);
      }
      assertThat(log.before()).isEmpty();
      assertThat(reserved()).isEqualTo(before);
    }
    assertThat(left()).containsExactly(items);
  }

  /** A reader may be quicker than the daemon that asks for each resident of the one before. */
  @Test
  void notTakenOver_afterAnAdmission_staysResident() throws FsException {
    write(new ItemKey(1, 0), new ItemKey(2, 0));
    try (ResidentFile log = ResidentFile.open(file, List.of())) {
      log.admitted(new ItemKey(1, 0));
      log.notTakenOver(new ItemKey(1, 0));
      log.notTakenOver(new ItemKey(2, 0));
    }
    assertThat(left()).containsExactly(new ItemKey(1, 0));
  }

  private void write(ItemKey... items) throws FsException {
    try (ResidentFile log = ResidentFile.open(file, List.of())) {
      for (ItemKey item : items) {
        log.reserve();
        log.admitted(item);
      }
    }
  }

  private List<ItemKey> left() throws FsException {
    try (ResidentFile log = ResidentFile.open(file, List.of())) {
      return log.before();
    }
  }

  private static ByteBuffer numbers(long... numbers) {
    ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Long.BYTES);
    bytes.order(ByteOrder.nativeOrder()).asLongBuffer().put(numbers);
    return bytes;
  }

  /** The old format had one number an item, whose bits mean another node and extent today. */
  @Test
  void open_fileOfAnotherFormat_givesNothing() throws FsException, IOException {
    Files.write(file, numbers(5L << 24, 6L << 24 | 1, ~(5L << 24), 0, 0).array());
    assertThat(left()).isEmpty();
    write(new ItemKey(9, 9));
    assertThat(left()).containsExactly(new ItemKey(9, 9));
  }

  private void overwrite(long position, long... numbers) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(numbers(numbers), position);
    }
  }

  @Test
  void open_recordWithoutItsNode_isTheEnd() throws FsException, IOException {
    write(new ItemKey(1, 0));
    overwrite(RECORDS + 16, 0, 77);
    assertThat(left()).containsExactly(new ItemKey(1, 0));
  }

  @Test
  void open_recordThatNoLogHas_givesNothing() throws FsException, IOException {
    write(new ItemKey(1, 0));
    overwrite(RECORDS + 16, 2, -1);
    assertThat(left()).isEmpty();
  }

  @Test
  void open_fileCutBeforeOrBehindARecord_givesWhatIsWhole() throws FsException, IOException {
    for (int length : new int[] {0, 7, 8, 20, 4096, 4100, 4104, 4120, 4136, 8192}) {
      Files.deleteIfExists(file);
      write(new ItemKey(1, 0), new ItemKey(2, 0));
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.truncate(length);
      }
      int whole = Math.min(2, Math.max(0, length - RECORDS) / 16);
      assertThat(left()).as("cut to %d bytes", length).hasSize(whole);
    }
  }
}
