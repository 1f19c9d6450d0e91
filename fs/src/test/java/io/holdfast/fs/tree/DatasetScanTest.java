package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.DelegatingOrigin;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class DatasetScanTest {
  private static final int PAGE = 4096;

  private final FakeOrigin origin = new FakeOrigin();
  private final AtomicLong whole = new AtomicLong(-1);

  @Test
  void run_tree_countsRegularFilesOnly() throws Exception {
    origin.file("a", new byte[1]);
    origin.file("d/empty", new byte[0]);
    origin.file("d/e/page", new byte[PAGE]);
    origin.file("d/e/more", new byte[PAGE + 1]);
    origin.symlink(bytes("link"), bytes("d"));
    origin.fifo(bytes("fifo"));
    DatasetScan scan =
        new DatasetScan(origin, PAGE, new DatasetScan.Selected(path -> true, whole::set));
    assertThat(scan.isComplete()).isFalse();
    scan.run();
    assertThat(scan.await(0, TimeUnit.SECONDS)).isTrue();
    assertThat(scan.isComplete()).isTrue();
    assertThat(scan.files()).isEqualTo(4);
    assertThat(scan.bytes()).isEqualTo(1 + PAGE + PAGE + 1);
    assertThat(scan.pageBytes()).isEqualTo(4L * PAGE);
    assertThat(whole).hasValue(4L * PAGE);
  }

  /** What a share of the dataset is selected from is not all that there is. */
  @Test
  void run_someSelected_tellsTheirSumOnly() {
    origin.file("a", new byte[1]);
    origin.file("d/b", new byte[PAGE + 1]);
    origin.file("d/c", new byte[PAGE]);
    new DatasetScan(
            origin,
            PAGE,
            new DatasetScan.Selected(path -> path.toString().startsWith("d/"), whole::set))
        .run();
    assertThat(whole).hasValue(3L * PAGE);
  }

  @Test
  void run_storeThatTellsNoTypes_countsTheSame() {
    origin.file("a", new byte[10]);
    origin.file("d/e/b", new byte[20]);
    origin.symlink(bytes("link"), bytes("d"));
    Origin typeless =
        new DelegatingOrigin(origin) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            super.list(path, (name, type, inode) -> sink.entry(name, 0, inode));
          }
        };
    DatasetScan scan =
        new DatasetScan(typeless, PAGE, new DatasetScan.Selected(path -> true, whole::set));
    scan.run();
    assertThat(scan.files()).isEqualTo(2);
    assertThat(scan.bytes()).isEqualTo(30);
  }

  @Test
  void run_entryThatFails_isLeftOut() {
    origin.file("bad", new byte[10]);
    origin.file("good", new byte[20]);
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.equals(OriginPath.of("bad"))) {
              throw new FsException(FsError.ACCESS_DENIED, "bad: denied");
            }
          }
        });
    DatasetScan scan =
        new DatasetScan(origin, PAGE, new DatasetScan.Selected(path -> true, whole::set));
    scan.run();
    assertThat(scan.files()).isEqualTo(1);
    assertThat(scan.isComplete()).isTrue();
  }

  @Test
  void stop_whileItRuns_endsItIncomplete() throws Exception {
    for (int i = 0; i < 10; i++) {
      origin.file("f" + i, new byte[1]);
    }
    DatasetScan scan =
        new DatasetScan(origin, PAGE, new DatasetScan.Selected(path -> true, whole::set));
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) {
            if (origin.stats() == 3) {
              scan.stop();
            }
          }
        });
    scan.run();
    assertThat(scan.await(0, TimeUnit.SECONDS)).isTrue();
    assertThat(scan.isComplete()).isFalse();
    assertThat(scan.files()).as("not the one that was asked for then").isEqualTo(2);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
