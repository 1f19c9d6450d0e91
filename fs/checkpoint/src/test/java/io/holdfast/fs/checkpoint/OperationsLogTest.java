package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.checkpoint.OperationsLog.Entry;
import io.holdfast.fs.checkpoint.OperationsLog.Saved;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperationsLogTest {
  private static final List<Operation> ALL =
      List.of(
          new Operation.Make("a/\u00ff", Stat.REGULAR | 0640, 7, 1, 2, ""),
          new Operation.Link("a", "b"),
          new Operation.Remove("b", true),
          new Operation.Rename("a", "c", 2),
          new Operation.Attributes("c", -1, 3, -1, FileTree.OMIT, -5),
          new Operation.Resize("c", 1L << 40),
          new Operation.Allocate("c", 3, 4096, 8192),
          new Operation.Write("c", 99, 10, 20, 0xdeadbeef),
          new Operation.SetXattr("c", "user.x", "\u0000\u0080", 1),
          new Operation.RemoveXattr("c", "user.x"));

  @TempDir Path directory;

  private final List<Entry> read = new ArrayList<>();

  private OperationsLog open() throws IOException {
    read.clear();
    return new OperationsLog(
        directory,
        1,
        new OperationsLog.Reader() {
          @Override
          public void entry(Entry entry) {
            read.add(entry);
          }

          @Override
          public void saved(Saved saved) {}
        });
  }

  private Path segment() {
    return directory.resolve("00000000000000000001.log");
  }

  @Test
  void everyOperation_isReadAsItWasWritten() throws Exception {
    List<Entry> written = new ArrayList<>();
    try (OperationsLog log = open()) {
      for (Operation operation : ALL) {
        written.add(log.append(1000 + written.size(), 5, operation));
      }
    }
    try (OperationsLog log = open()) {
      assertThat(read).isEqualTo(written);
      assertThat(log.last()).isEqualTo(ALL.size());
    }
  }

  /** A segment that had many saves and no entry yet began over itself. */
  @Test
  void savedBytes_ofASegmentWithoutAnEntry_stay() throws Exception {
    int part = OperationsLog.LARGEST_SAVE;
    byte[] bytes = new byte[part];
    new Random(1).nextBytes(bytes);
    Files.write(directory.resolve("file"), bytes);
    long memory = LIBC.malloc(part);
    try (FileTree tree = FileTree.open(directory);
        OperationsLog log = open()) {
      int fd = tree.open("file", Linux.O_RDONLY);
      long write = log.append(1, 0, new Operation.Write("c", 99, 0, part, 0)).sequence();
      for (int i = 0; i < 65; i++) {
        log.save(write, fd, 0, part);
      }
      log.append(2, 0, new Operation.Remove("x", false)); // begins a segment
      log.retract();
      Saved first = log.save(write, fd, 0, part);
      for (int i = 0; i < 65; i++) {
        log.save(write, fd, 0, part);
      }
      log.append(3, 0, new Operation.Remove("y", false));

      log.read(first, 0, memory, part);
      assertThat(Memory.bytes(memory, part)).isEqualTo(bytes);
      LIBC.close(fd);
    } finally {
      LIBC.free(memory);
    }
  }

  /** The format may not change unseen: a front of an older version would be lost. */
  @Test
  void record_hasTheBytesOfItsFormat() throws Exception {
    try (OperationsLog log = open()) {
      log.append(2, 3, new Operation.Remove("ab", true));
    }
    assertThat(HexFormat.of().formatHex(Files.readAllBytes(segment())))
        .matches(
            "00000020" // bytes behind the checksum
                + "[0-9a-f]{8}" // checksum
                + "0000000000000001" // sequence
                + "0000000000000002" // time
                + "0000000000000003" // witness
                + "03" // Remove
                + "000000026162" // path
                + "01");
  }

  @Test
  void tornRecord_isCutOff_andTheLogGoesOn() throws Exception {
    try (OperationsLog log = open()) {
      log.append(1, 0, ALL.get(0));
      log.append(2, 0, ALL.get(1));
    }
    byte[] whole = Files.readAllBytes(segment());
    for (int length = whole.length - 1; length > whole.length - 20; length--) {
      Files.write(segment(), java.util.Arrays.copyOf(whole, length));
      try (OperationsLog log = open()) {
        assertThat(read).hasSize(1);
        assertThat(log.append(3, 0, ALL.get(2)).sequence()).isEqualTo(2);
      }
      open().close();
      assertThat(read).extracting(Entry::operation).containsExactly(ALL.get(0), ALL.get(2));
    }
  }

  @Test
  void damagedRecord_endsTheLog() throws Exception {
    try (OperationsLog log = open()) {
      log.append(1, 0, ALL.get(0));
      log.append(2, 0, ALL.get(1));
    }
    byte[] bytes = Files.readAllBytes(segment());
    bytes[bytes.length - 1] ^= 1;
    Files.write(segment(), bytes, StandardOpenOption.TRUNCATE_EXISTING);
    open().close();
    assertThat(read).hasSize(1);
  }

  @Test
  void retractedOperation_isNotThere() throws Exception {
    try (OperationsLog log = open()) {
      log.append(1, 0, ALL.get(0));
      log.append(2, 0, ALL.get(1));
      log.retract();
      assertThat(log.append(3, 0, ALL.get(2)).sequence()).isEqualTo(2);
    }
    open().close();
    assertThat(read).extracting(Entry::operation).containsExactly(ALL.get(0), ALL.get(2));
  }

  @Test
  void trim_removesWhatIsDurable() throws Exception {
    try (OperationsLog log = open()) {
      for (Operation operation : ALL) {
        log.append(1, 0, operation);
      }
      log.trim(ALL.size() - 1);
      assertThat(log.bytes()).isPositive();
      log.trim(ALL.size());
      assertThat(log.bytes()).isZero();
      assertThat(log.append(1, 0, ALL.get(0)).sequence()).isEqualTo(ALL.size() + 1);
    }
  }
}
