package io.holdfast.fs.tree;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.DelegatingOrigin;
import io.holdfast.fs.origin.DirectoryWalk;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.KnownEntries;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.Origin.ScanSink;
import io.holdfast.fs.origin.OriginPath;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
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
    return scan(origin, selected, Moment::now);
  }

  private DatasetScan scan(Origin origin, Predicate<OriginPath> selected, Supplier<Moment> clock)
      throws FsException {
    Tree tree = new Tree(origin, nodes, old -> {});
    return new DatasetScan(
        new TreeScan(origin, tree, threads),
        tree,
        new DatasetScan.Rules(
            PAGE, new DatasetScan.Selected(selected, whole::set), TreePass.ChangeSink.NONE, clock));
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

  /** For example a directory that was renamed between its parent's listing and its own. */
  @Test
  void run_directoryThatIsAnotherOneWhenItIsReached_isListedAgain() throws Exception {
    origin.file("d/e/f", new byte[1]);
    DatasetScan scan = scan(moving("d/e", 2), path -> true);
    scan.run();
    assertThat(scan.files()).isEqualTo(1);
    assertThat(scan.isComplete()).isTrue();
    assertThat(whole).hasValue(PAGE);
  }

  @Test
  void run_directoryThatIsAlwaysAnotherOne_isNotTakenForKnown() throws Exception {
    origin.file("d/e/f", new byte[1]);
    Tree tree = new Tree(moving("d/e", Integer.MAX_VALUE), nodes, old -> {});
    TreePass pass = new TreePass(tree, Moment.now(), TreePass.ChangeSink.NONE);
    new TreeScan(moving("d/e", Integer.MAX_VALUE), tree, threads)
        .run(tree.root(), pass, (in, name, is) -> {}, () -> true);
    assertFails(pass::requireWhole, FsError.STALE);
  }

  @Test
  void run_directoryThatHasGoneWhenItIsReached_isNotMissed() throws Exception {
    origin.file("d/e/f", new byte[1]);
    Tree tree = new Tree(origin, nodes, old -> {});
    TreePass pass = new TreePass(tree, Moment.now(), TreePass.ChangeSink.NONE);
    Origin going =
        new DelegatingOrigin(moving("d/e", 1)) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            try {
              super.list(path, sink);
            } finally {
              if (path.toString().equals("d/e")) {
                origin.remove("d/e/f");
                origin.remove("d/e");
              }
            }
          }

          @Override
          public void scan(OriginPath directory, Executor threads, ScanSink sink) {
            new DirectoryWalk(this::list, threads, sink).walk(directory);
          }
        };
    new TreeScan(going, tree, threads).run(tree.root(), pass, (in, name, is) -> {}, () -> true);
    pass.requireWhole();
    assertThat(tree.known(tree.directory(tree.root(), bytes("d")), bytes("e"))).isNull();
  }

  /** The new directory would count as listed whole, and none of its names be found. */
  @Test
  void run_directoryIsReplacedWhileItIsListed_isListedAgain() throws Exception {
    origin.file("d/old", new byte[1]);
    Tree tree = new Tree(origin, nodes, old -> {});
    TreePass pass = new TreePass(tree, Moment.now(), TreePass.ChangeSink.NONE);
    AtomicBoolean replaced = new AtomicBoolean();
    Origin replacing =
        new DelegatingOrigin(origin) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            super.list(path, sink);
            if (path.toString().equals("d") && replaced.compareAndSet(false, true)) {
              origin.remove("d/old");
              origin.remove("d");
              origin.file("d/new", new byte[1]);
              tree.lookup(tree.root(), bytes("d"));
            }
          }

          @Override
          public void scan(OriginPath directory, Executor threads, ScanSink sink) {
            new DirectoryWalk(this::list, threads, sink).walk(directory);
          }
        };

    new TreeScan(replacing, tree, threads).run(tree.root(), pass, (in, name, is) -> {}, () -> true);

    pass.requireWhole();
    Node directory = tree.directory(tree.root(), bytes("d"));
    assertThat(tree.listedAt(directory)).isNotZero();
    assertThat(tree.known(directory, bytes("new"))).isNotNull();
    assertThat(tree.known(directory, bytes("old"))).isNull();
  }

  /**
   * Passes a scan on, but not the entries of the root, so that the tree does not know its
   * directories; and replaces these once the way to them was told.
   */
  private record LateSink(ScanSink sink, Runnable replace) implements ScanSink {
    @Override
    public void entries(OriginPath directory, List<Origin.ScannedEntry> entries) {
      if (!directory.isRoot()) {
        sink.entries(directory, entries);
      }
    }

    @Override
    public void unread(OriginPath directory, OriginPath name, FsException cause) {
      sink.unread(directory, name, cause);
    }

    @Override
    public void way(OriginPath directory, List<Attributes> way) throws FsException {
      try {
        sink.way(directory, way);
      } finally {
        if (!directory.isRoot()) {
          replace.run();
        }
      }
    }

    @Override
    public KnownEntries known(OriginPath directory) {
      return sink.known(directory);
    }

    @Override
    public void complete(OriginPath directory) {
      sink.complete(directory);
    }

    @Override
    public void failed(OriginPath directory, FsException cause) {
      sink.failed(directory, cause);
    }

    @Override
    public boolean goesOn() {
      return sink.goesOn();
    }
  }

  /** A lookup was just replacing it: the new directory would have the names of the old one. */
  @Test
  void run_directoryIsNotKnownWhenItsListingBegins_isListedAgain() throws Exception {
    origin.file("d/old", new byte[1]);
    Tree tree = new Tree(origin, nodes, old -> {});
    TreePass pass = new TreePass(tree, Moment.now(), TreePass.ChangeSink.NONE);
    Runnable replace =
        () -> {
          origin.remove("d");
          origin.file("d/new", new byte[1]);
          assertThatCode(() -> tree.lookup(tree.root(), bytes("d"))).doesNotThrowAnyException();
        };
    Origin replacing =
        new DelegatingOrigin(origin) {
          @Override
          public void scan(OriginPath top, Executor on, ScanSink sink) {
            ScanSink late = top.isRoot() ? new LateSink(sink, replace) : sink;
            new DirectoryWalk(this::list, on, late).walk(top);
          }
        };

    new TreeScan(replacing, tree, threads).run(tree.root(), pass, (in, name, is) -> {}, () -> true);

    pass.requireWhole();
    Node directory = tree.directory(tree.root(), bytes("d"));
    assertThat(tree.listedAt(directory)).isNotZero();
    assertThat(tree.known(directory, bytes("new"))).isNotNull();
    assertThat(tree.known(directory, bytes("old"))).isNull();
  }

  /** An origin of which a directory is another one than was meant, some times. */
  private Origin moving(String directory, int times) {
    AtomicInteger left = new AtomicInteger(times);
    return new DelegatingOrigin(origin) {
      @Override
      public void list(OriginPath path, EntrySink sink) throws FsException {
        if (path.toString().equals(directory) && left.getAndDecrement() > 0) {
          throw new FsException(FsError.STALE, path + ": moved");
        }
        super.list(path, sink);
      }

      @Override
      public void scan(OriginPath top, Executor on, ScanSink sink) {
        new DirectoryWalk(this::list, on, sink).walk(top);
      }
    };
  }

  /** If only some files are selected, the policy's share is of these, not of the whole dataset. */
  @Test
  void run_someSelected_tellsTheirSumOnly() throws FsException {
    origin.file("a", new byte[1]);
    origin.file("d/b", new byte[PAGE + 1]);
    origin.file("d/c", new byte[PAGE]);
    scan(origin, path -> path.toString().startsWith("d/")).run();
    assertThat(whole).hasValue(3L * PAGE);
  }

  /** One file of a TiB without content, such as any user may make, next to 16 MiB of content. */
  @Test
  void run_sparseFiles_countAsWhatTheyMayHold() throws FsException {
    for (int i = 0; i < 16; i++) {
      origin.file("f" + i, new byte[1 << 20]);
    }
    origin.file("sparse", new byte[0]);
    origin.file("largest", new byte[0]);
    origin.file("also", new byte[0]);
    Origin sparse =
        new DelegatingOrigin(origin) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            super.list(
                path,
                (name, type, inode, known) -> {
                  sink.entry(name, type, inode, sparse(OriginPath.of(name), known));
                });
          }

          @Override
          public Attributes stat(OriginPath path) throws FsException {
            return sparse(path, super.stat(path));
          }

          @Override
          public void scan(OriginPath directory, Executor threads, ScanSink sink) {
            new DirectoryWalk(this::list, threads, sink).walk(directory);
          }
        };
    DatasetScan scan = scan(sparse, path -> true);
    scan.run();
    assertThat(scan.bytes()).as("what stat says, or as much as there are numbers").isPositive();
    assertThat(scan.pageBytes()).isEqualTo(19L << 20);
    assertThat(whole).hasValue(19L << 20);
  }

  private static Attributes sparse(OriginPath path, Attributes known) {
    return switch (path.toString()) {
      case "sparse" -> sized(known, 1L << 40, 0);
      case "largest", "also" -> sized(known, Long.MAX_VALUE, 8);
      default -> known;
    };
  }

  private static Attributes sized(Attributes of, long size, long blocks) {
    return new Attributes(
        of.mode(),
        of.links(),
        of.uid(),
        of.gid(),
        of.device(),
        of.inode(),
        size,
        blocks,
        of.accessed(),
        of.modified(),
        of.changed(),
        of.etag());
  }

  @Test
  void useful_ofFilesAsFilesystemsTellThem_isTheirSizeUnlessMostOfItIsHoles() {
    Attributes some = new Attributes(Attributes.REGULAR, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, "");
    for (long[] file :
        new long[][] {
          // size, blocks, useful
          {10_000, 24, 10_000},
          {10_000, 0, 10_000},
          {100 << 20, 204_800, 100 << 20},
          {100 << 20, 204_800 / 5, 100 << 20},
          {1L << 40, 0, 1 << 20},
          {1L << 40, 8, 1 << 20},
          {1L << 40, 1 << 20, 4L << 30},
          {Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE / 4096 * 4096},
          {Long.MAX_VALUE, -1, 1 << 20}
        }) {
      assertThat(DatasetScan.useful(sized(some, file[0], file[1])))
          .as("size %d, blocks %d", file[0], file[1])
          .isEqualTo(file[2]);
    }
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
            new DirectoryWalk(this::list, threads, sink).walk(directory);
          }
        };
    DatasetScan scan = scan(typeless, path -> true);
    scan.run();
    assertThat(scan.files()).isEqualTo(2);
    assertThat(scan.bytes()).isEqualTo(30);
  }

  @Test
  void run_entryThatIsForbidden_isLeftOut() throws FsException {
    origin.file("bad", new byte[10]);
    origin.file("good", new byte[20]);
    failAt("bad", FsError.ACCESS_DENIED);
    DatasetScan scan = scan(origin, path -> true);
    scan.run();
    assertThat(scan.files()).isEqualTo(1);
    assertThat(scan.isComplete()).isTrue();
    assertThat(whole).hasValue(PAGE);
  }

  /** All below a directory was left out, and the rest counted as the whole dataset. */
  @Test
  void run_entryThatCannotBeRead_countsForNothing() throws FsException {
    origin.file("d/below", new byte[10]);
    origin.file("good", new byte[20]);
    failAt("d", FsError.IO);
    DatasetScan scan = scan(origin, path -> true);
    scan.run();
    assertThat(scan.isComplete()).isFalse();
    assertThat(scan.incompleteListings()).isEqualTo(1);
    assertThat(whole).hasValue(-1);
  }

  private void failAt(String entry, FsError error) {
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.equals(OriginPath.of(entry))) {
              throw new FsException(error, path + ": gate");
            }
          }
        });
  }

  /**
   * The part that was found counted as the dataset: as the size that the policy divides, and for
   * orders and warming.
   */
  @Test
  void run_directoryThatFailsForAWhile_countsForNothingAndIsDueAgain() throws FsException {
    origin.file("a", new byte[1]);
    origin.file("d/b", new byte[1]);
    AtomicBoolean failing = new AtomicBoolean(true);
    Origin some =
        new DelegatingOrigin(origin) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            if (failing.get() && path.equals(OriginPath.of("d"))) {
              throw new FsException(FsError.IO, path + ": broken");
            }
            super.list(path, sink);
          }

          @Override
          public void scan(OriginPath directory, Executor threads, ScanSink sink) {
            new DirectoryWalk(this::list, threads, sink).walk(directory);
          }
        };
    AtomicLong nanos = new AtomicLong(1);
    Moment now = Moment.now();
    DatasetScan scan =
        scan(some, path -> true, () -> new Moment(nanos.get(), now.ofDay(), now.boot()));

    assertThat(scan.hasEnded()).isFalse();
    scan.run();
    assertThat(scan.isComplete()).isFalse();
    assertThat(scan.hasEnded()).as("nobody waits for what never comes").isTrue();
    assertThat(scan.took()).isZero();
    assertThat(whole).as("nobody is told of a part").hasValue(-1);
    assertThat(scan.isDueAgain()).isFalse();
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
    assertThat(scan.isDueAgain()).isTrue();

    failing.set(false);
    scan.run();
    assertThat(scan.isComplete()).isTrue();
    assertThat(scan.files()).isEqualTo(2);
    assertThat(whole).hasValue(2L * PAGE);
    nanos.addAndGet(TimeUnit.DAYS.toNanos(1));
    assertThat(scan.isDueAgain()).isFalse();

    failing.set(true);
    scan.run();
    assertThat(scan.isComplete()).isTrue();
    assertThat(scan.files()).as("those of the last whole scan").isEqualTo(2);
  }

  @Test
  void run_directoryThatIsForbidden_isLeftOut() throws FsException {
    origin.file("a", new byte[1]);
    origin.file("d/b", new byte[1]);
    Origin some =
        new DelegatingOrigin(origin) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            if (path.equals(OriginPath.of("d"))) {
              throw new FsException(FsError.ACCESS_DENIED, path + ": denied");
            }
            super.list(path, sink);
          }

          @Override
          public void scan(OriginPath directory, Executor threads, ScanSink sink) {
            new DirectoryWalk(this::list, threads, sink).walk(directory);
          }
        };
    DatasetScan scan = scan(some, path -> true);
    scan.run();
    assertThat(scan.isComplete()).isTrue();
    assertThat(scan.files()).isEqualTo(1);
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
