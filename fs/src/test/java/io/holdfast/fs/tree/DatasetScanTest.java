package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.DelegatingOrigin;
import io.holdfast.fs.origin.DirectoryWalk;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class DatasetScanTest {
  private static final int PAGE = 4096;

  private final FakeOrigin origin = new FakeOrigin();
  private final AtomicLong whole = new AtomicLong(-1);
  private final ExecutorService threads = Executors.newFixedThreadPool(2);
  private NodeTable nodes;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
  }

  @AfterEach
  void free() {
    Await.end(threads);
    nodes.close();
  }

  private DatasetScan scan(Origin origin, Predicate<OriginPath> selected) throws FsException {
    Tree tree = new Tree(origin, nodes, old -> {});
    return new DatasetScan(
        new TreeScan(origin, tree, threads),
        tree,
        new DatasetScan.Rules(
            PAGE,
            new DatasetScan.Selected(selected, whole::set),
            TreePass.ChangeSink.NONE,
            Moment::now));
  }

  @Test
  void run_tree_countsRegularFilesOnly() throws Exception {
    origin.file("a", new byte[1]);
    origin.file("d/empty", new byte[0]);
    origin.file("d/e/page", new byte[PAGE]);
    origin.file("d/e/more", new byte[PAGE + 1]);
    origin.symlink(bytes("link"), bytes("d"));
    origin.fifo(bytes("fifo"));
    DatasetScan scan = scan(origin, path -> true);
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
  void run_someSelected_tellsTheirSumOnly() throws FsException {
    origin.file("a", new byte[1]);
    origin.file("d/b", new byte[PAGE + 1]);
    origin.file("d/c", new byte[PAGE]);
    scan(origin, path -> path.toString().startsWith("d/")).run();
    assertThat(whole).hasValue(3L * PAGE);
  }

  @Test
  void run_storeThatTellsNoTypes_countsTheSame() throws FsException {
    origin.file("a", new byte[10]);
    origin.file("d/e/b", new byte[20]);
    origin.symlink(bytes("link"), bytes("d"));
    Origin typeless =
        new DelegatingOrigin(origin) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            super.list(
                path, (name, type, inode, attributes) -> sink.entry(name, 0, inode, attributes));
          }

          @Override
          public void scan(OriginPath directory, Executor threads, ScanSink sink) {
            new DirectoryWalk(this, threads, sink).walk(directory);
          }
        };
    DatasetScan scan = scan(typeless, path -> true);
    scan.run();
    assertThat(scan.files()).isEqualTo(2);
    assertThat(scan.bytes()).isEqualTo(30);
  }

  @Test
  void run_entryThatFails_isLeftOut() throws FsException {
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
    DatasetScan scan = scan(origin, path -> true);
    scan.run();
    assertThat(scan.files()).isEqualTo(1);
    assertThat(scan.isComplete()).isTrue();
  }

  @Test
  void stop_whileItRuns_endsItIncomplete() throws Exception {
    for (int i = 0; i < 10; i++) {
      origin.file("f" + i, new byte[1]);
    }
    DatasetScan scan = scan(origin, path -> true);
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) {
            if (!path.equals(OriginPath.ROOT)) {
              scan.stop();
            }
          }
        });
    scan.run();
    assertThat(scan.await(0, TimeUnit.SECONDS)).isTrue();
    assertThat(scan.isComplete()).isFalse();
    assertThat(whole).as("nobody is told of a part").hasValue(-1);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
