package io.holdfast.fs.bpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads what a program in the kernel has written. */
@Timeout(60)
class OpenRingTest {
  private final RingWriter writer = new RingWriter();
  private final List<String> taken = new ArrayList<>();
  private OpenRing ring;

  @BeforeEach
  void create() throws FsException {
    assumeTrue(RingWriter.isPermitted(), "BPF programs of sockets, which root may load");
    ring = writer.create();
  }

  @AfterEach
  void close() {
    if (ring != null) {
      ring.close();
    }
  }

  private void take() {
    ring.take((thread, inode, size) -> taken.add(thread + " " + inode + " " + size));
  }

  @Test
  void opens_areTakenOnceAndInOrder() throws FsException {
    take();
    assertThat(taken).isEmpty();
    assertThat(ring.await(0)).isFalse();

    writer.write(5, 70, 900, 2);
    writer.write(6, 71, 0, 1);
    assertThat(ring.await(0)).isTrue();
    take();
    assertThat(taken).containsExactly("5 70 900", "5 70 900", "6 71 0");
    assertThat(ring.await(0)).isFalse();
    take();
    assertThat(taken).hasSize(3);
    assertThat(ring.lost()).isZero();
  }

  /** Round and round, so that every place of the ring is the first and the last of some turn. */
  @Test
  void ringThatIsFilledAgainAndAgain_losesNoneAndTearsNone() throws FsException {
    int[] count = new int[2];
    for (int turn = 1; turn <= 5; turn++) {
      int inode = turn;
      writer.write(turn, inode, 2 * turn, OpenRing.RECORDS - 1000);
      ring.take(
          (thread, file, size) -> {
            count[0]++;
            count[1] += thread == inode && file == inode && size == 2L * inode ? 1 : 0;
          });
    }
    assertThat(count[0]).isEqualTo(5 * (OpenRing.RECORDS - 1000)).isEqualTo(count[1]);
    assertThat(ring.lost()).isZero();
  }

  @Test
  void opensThatFindNoRoom_areCounted_andLaterOnesAreTaken() throws FsException {
    writer.write(1, 1, 1, OpenRing.RECORDS + 10);
    int[] count = new int[1];
    ring.take((thread, inode, size) -> count[0]++);
    assertThat(count[0]).isEqualTo(OpenRing.RECORDS - 1);
    assertThat(ring.lost()).isEqualTo(11);

    writer.write(2, 2, 2, 1);
    take();
    assertThat(taken).containsExactly("2 2 2");
    assertThat(ring.lost()).isEqualTo(11);
  }

  /** One error must not have the next reader count the same open again, or lose those behind it. */
  @Test
  void takerThatFails_hasTakenTheOpen() throws FsException {
    writer.write(1, 1, 1, 1);
    writer.write(2, 2, 2, 1);
    OutOfMemoryError fault = new OutOfMemoryError("a test");
    assertThatThrownBy(
            () ->
                ring.take(
                    (thread, inode, size) -> {
                      throw fault;
                    }))
        .isSameAs(fault);
    take();
    assertThat(taken).containsExactly("2 2 2");
  }

  @Test
  void startThatFails_leavesNothing() throws Exception {
    FsException fault = new FsException(FsError.UNSUPPORTED, "a test");
    String before = mappings();
    long descriptors = Procfs.host().descriptors().orElseThrow();
    for (int i = 0; i < 20; i++) {
      assertThatThrownBy(
              () ->
                  OpenRing.create(
                      "holdfast_test",
                      (ringFd, lostFd) -> {
                        throw fault;
                      }))
          .isSameAs(fault);
    }
    assertThat(mappings()).isEqualTo(before);
    assertThat(Procfs.host().descriptors().orElseThrow()).isEqualTo(descriptors);
  }

  /** The mappings of programs' memory. */
  private static String mappings() throws IOException {
    return String.join(
        "\n",
        Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter(line -> line.contains("bpf"))
            .toList());
  }
}
