package io.holdfast.fs.mount;

import static io.holdfast.fs.Failures.assertFails;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.AccessLog;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.residency.ResidentLog;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.JobBy;
import io.holdfast.fs.stats.ReadStats;
import io.holdfast.fs.transit.Borrower;
import io.holdfast.fs.transit.FetchListener;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.PeerSource;
import io.holdfast.fs.transit.PlainFetchers;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.policy.Policies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An error in the daemon breaks off a read; its thread is blocked no longer than until then. */
final class DatasetFilesystemTest {
  private static final int ITEM = 1 << 20;
  private static final Duration TTL = Duration.ofHours(1);

  /** The thread of a process that is not the daemon. */
  private static final int THREAD = 1;

  private static final byte[] NAME = "f".getBytes(UTF_8);
  private static final byte[] NAME_OF_DIRECTORY = "d".getBytes(UTF_8);
  private static final Asker ROOT = new Asker(0, 0, 0);

  @TempDir private Path mount;
  @TempDir private Path procfs;

  private final FakeOrigin origin = new FakeOrigin();
  private final FakeClock clock = new FakeClock();
  private final ReadStats reads = new ReadStats();
  private final FullHeap heap = new FullHeap();

  /** Runs when a node is replaced, before its name leads to another one. */
  private final AtomicReference<Runnable> whenReplaced = new AtomicReference<>(() -> {});

  private NodeTable nodes;
  private IsolatedThreads threads;
  private Transit transit;
  private Residency residency;
  private Tree tree;
  private DatasetChanges changes;
  private DatasetFilesystem filesystem;

  /** Admits nothing; finds the heap full once, maybe after the reader's answer. */
  private static final class FullHeap implements FetchListener {
    private boolean full = true;
    private boolean answers;

    @Override
    public boolean serve(Item item, int offset, int length, Borrower borrower) {
      if (full) {
        full = false;
        if (answers) {
          borrower.failed(new FsException(FsError.IO, "before"));
        }
        throw new OutOfMemoryError("Java heap space");
      }
      return false;
    }

    @Override
    public boolean wouldAdmit(Item item) {
      return false;
    }

    @Override
    public boolean offer(Fetched fetched) {
      return false;
    }

    @Override
    public void delivered(Item item, int bytes, boolean complete) {}

    @Override
    public void ended(Item item, ReadSource source, long nanos, @Nullable FsException failure) {}

    @Override
    public void changed(Item item) {}
  }

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    threads = IsolatedThreads.start("test", 1, 0, new IsolatedThreads.Failures());
    tree = new Tree(origin, nodes, old -> whenReplaced.getAndSet(() -> {}).run());
    ItemLayout layout = new ItemLayout(ITEM);
    transit =
        new Transit(
            new Transit.Sources(origin, PeerSource.NONE, Runnable::run),
            layout,
            4L * ITEM,
            new PlainFetchers(Runnable::run, Runnable::run),
            clock,
            TTL,
            heap);
    residency =
        new Residency(
            new Residency.Rules(Policies.create("none", 0, 1), Selection.NONE, ResidentLog.NONE),
            new Residency.MountUse(
                () -> Linux.openDirectory(mount), PageStore.NONE, false, 1, fd -> 0),
            new Residency.Threads(threads, threads),
            new Residency.WindowSize(4L * ITEM, TTL),
            clock);
    changes =
        new DatasetChanges(
            new DatasetChanges.Parts(
                tree,
                null,
                layout,
                transit,
                residency,
                null,
                TTL,
                false,
                Runnable::run,
                Runnable::run,
                Runnable::run));
    filesystem =
        new DatasetFilesystem(
            new DatasetFilesystem.Parts(
                origin,
                tree,
                layout,
                transit,
                residency,
                null,
                reads,
                new Activity(JobBy.CGROUP, ITEM, clock),
                AccessLog.NONE,
                changes,
                TTL,
                new Procfs(procfs),
                clock));
  }

  @AfterEach
  void free() {
    transit.close();
    residency.close();
    threads.close();
    nodes.close();
  }

  /** The read counted as not answered for good, and the next ones as blocked since it began. */
  @Test
  void read_heapIsFull_endsTheStallOfItsThread() throws FsException {
    assertNextReadIsNotBlocked();
  }

  /** A read that is answered and then breaks off counts once. */
  @Test
  void read_heapIsFullAfterTheAnswer_endsTheStallOfItsThreadOnce() throws FsException {
    heap.answers = true;
    assertNextReadIsNotBlocked();
  }

  /**
   * The kernel had let the user pass before the directory was closed, and asked for the name, or
   * waited for root's question, when a file had come into the directory.
   */
  @Test
  void lookup_directoryWasJustClosed_isRefusedToUsersWhoMayNotPassNow()
      throws FsException, IOException {
    Asker user = user();
    origin.file("d/f", new byte[1]);
    origin.chmod("d", 0700);
    long directory = filesystem.lookup(Filesystem.ROOT, NAME_OF_DIRECTORY, ROOT).node();
    assertThat(filesystem.lookup(directory, NAME, user).node()).isPositive();
    assertThat(filesystem.believeNames(directory)).isEqualTo(TTL);

    changes.rightsChanges().note(directory, tree.node(directory).attributes());

    assertFails(() -> filesystem.lookup(directory, NAME, user), FsError.STALE);
    assertThat(filesystem.lookup(directory, NAME, ROOT).node()).isPositive();
    assertThat(filesystem.believeNames(directory)).isZero();
    origin.chmod("d", 0701);
    assertFails(() -> filesystem.attributes(directory), FsError.STALE);
    assertThat(filesystem.lookup(directory, NAME, user).node()).isPositive();
  }

  /** A process that was there already is refused as well: nobody can tell it from others. */
  @Test
  void lookup_directoryAboveWasJustClosed_isRefusedToUsersWhoMayNotPassNow()
      throws FsException, IOException {
    Asker user = user();
    origin.file("d/d/f", new byte[1]);
    long above = filesystem.lookup(Filesystem.ROOT, NAME_OF_DIRECTORY, ROOT).node();
    long directory = filesystem.lookup(above, NAME_OF_DIRECTORY, ROOT).node();
    assertThat(filesystem.lookup(directory, NAME, user).node()).isPositive();
    assertThat(filesystem.believeNames(directory)).isEqualTo(TTL);

    change(above, 0700, 1);

    assertFails(() -> filesystem.lookup(directory, NAME, user), FsError.STALE);
    assertThat(filesystem.lookup(directory, NAME, ROOT).node()).isPositive();
    assertThat(filesystem.believeNames(directory)).isZero();
  }

  /** The file was found while the directory was closed. */
  @Test
  void lookup_directoryIsOpenedMeanwhile_givesWhatIsThereSince() throws FsException, IOException {
    Asker user = user();
    origin.file("d/f", new byte[1]);
    long directory = filesystem.lookup(Filesystem.ROOT, NAME_OF_DIRECTORY, ROOT).node();
    assertThat(filesystem.lookup(directory, NAME, user).attributes().size()).isEqualTo(1);
    change(directory, 0700, 2);
    whenReplaced.set(() -> change(directory, 0755, 3));

    assertThat(filesystem.lookup(directory, NAME, user).attributes().size()).isEqualTo(3);
    assertThat(filesystem.believeNames(directory)).isZero();
  }

  @Test
  void lookup_directoryChangesAllTheTime_isRefused() throws FsException, IOException {
    Asker user = user();
    origin.file("d/f", new byte[1]);
    long directory = filesystem.lookup(Filesystem.ROOT, NAME_OF_DIRECTORY, ROOT).node();
    filesystem.lookup(directory, NAME, user);
    change(directory, 0700, 2);
    AtomicInteger changed = new AtomicInteger(2);
    whenReplaced.set(
        new Runnable() {
          @Override
          public void run() {
            int size = changed.incrementAndGet();
            change(directory, size % 2 == 0 ? 0700 : 0755, size);
            whenReplaced.set(this);
          }
        });

    assertFails(() -> filesystem.lookup(directory, NAME, user), FsError.STALE);
    assertThat(changed).hasValueGreaterThan(2);
  }

  /** Gives a directory rights and a file of a size; the daemon has learned of the rights. */
  private void change(long directory, int mode, int size) {
    origin.file("d/f", new byte[size]);
    origin.chmod("d", mode);
    assertFails(() -> filesystem.attributes(directory), FsError.STALE);
    try {
      changes.rightsChanges().note(directory, tree.node(directory).attributes());
    } catch (FsException e) {
      throw new AssertionError(e);
    }
  }

  /** A user with no groups and no capabilities. */
  private Asker user() throws IOException {
    Path status = procfs.resolve("proc/12/status");
    Files.createDirectories(status.getParent());
    Files.writeString(status, "Groups:\t\nCapEff:\t0\n");
    return new Asker(1000, 1000, 12);
  }

  private void assertNextReadIsNotBlocked() throws FsException {
    byte[] content = {1, 2, 3};
    origin.file("f", content);
    long node = filesystem.lookup(Filesystem.ROOT, NAME, ROOT).node();
    RecordingReply broken = new RecordingReply();
    assertThatThrownBy(() -> filesystem.read(node, 0, 3, THREAD, broken))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(broken.isAnswered()).isTrue();
    clock.advance(Duration.ofSeconds(5));
    RecordingReply next = new RecordingReply();
    filesystem.read(node, 0, 3, THREAD, next);
    assertThat(next.bytes()).isEqualTo(content);
    assertThat(reads.figures().requests()).isEqualTo(2);
    assertThat(reads.figures().errors()).isEqualTo(1);
    assertThat(reads.figures().stallSeconds()).isZero();
  }
}
