package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link FileSequence}. */
final class FileSequenceTest {
  private static final int PASSES = 4000;
  private static final long MOST_BYTES = 2000L * PASSES;

  private static FileSequence sequence(int size) {
    FileSequence sequence = new FileSequence();
    for (int i = 0; i < size; i++) {
      sequence.add(FileSequence.LARGEST - 3L * i);
    }
    sequence.trim();
    return sequence;
  }

  private static byte[] written(FileSequence sequence) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    sequence.write(new DataOutputStream(bytes));
    assertThat(bytes.size()).isEqualTo((int) sequence.bytes());
    return bytes.toByteArray();
  }

  private static FileSequence read(byte[] bytes) throws IOException {
    return FileSequence.read(new DataInputStream(new ByteArrayInputStream(bytes)));
  }

  /** A piece has 16,384 ids. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 16_383, 16_384, 16_385, 40_000})
  void ids_areThoseThatWereAdded_andRead(int size) throws IOException {
    FileSequence added = sequence(size);
    FileSequence read = read(written(added));
    for (FileSequence each : List.of(added, read)) {
      assertThat(each.size()).isEqualTo(size);
      for (int i = 0; i < size; i++) {
        assertThat(each.get(i)).isEqualTo(FileSequence.LARGEST - 3L * i);
      }
    }
  }

  /** An order may have ten thousand epochs of a few files. */
  @Test
  void sequences_ofFewIds_takeLittleMemory() throws IOException {
    byte[] small = written(sequence(1));
    List<FileSequence> kept = new ArrayList<>();
    long before = usedHeap();
    for (int i = 0; i < PASSES; i++) {
      kept.add(i % 2 == 0 ? sequence(1) : read(small));
    }
    assertThat(usedHeap() - before).isLessThan(MOST_BYTES);
    assertThat(kept).allSatisfy(each -> assertThat(each.size()).isEqualTo(1));
  }

  private static long usedHeap() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    memory.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }
}
