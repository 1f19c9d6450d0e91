package io.holdfast.fs.daemon;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TreeStateTest {
  @TempDir private Path temp;

  private final FakeOrigin origin = new FakeOrigin();
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final List<NodeTable> tables = new ArrayList<>();
  private Path file = Path.of("");

  @BeforeEach
  void prepare() {
    origin.file("file", new byte[1]);
    file = temp.resolve("new/state/name.tree");
  }

  @AfterEach
  void free() {
    Await.end(clock);
    tables.forEach(NodeTable::close);
  }

  private Tree tree() throws FsException {
    NodeTable nodes = new NodeTable(GrowingMemory.ofProcess("test"));
    tables.add(nodes);
    return new Tree(origin, nodes, old -> {});
  }

  private static void lookUp(Tree tree) throws FsException {
    assertThat(tree.lookup(tree.root(), "file".getBytes(UTF_8))).isNotNull();
  }

  private void writeOne() throws FsException {
    Tree tree = tree();
    lookUp(tree);
    TreeState state = new TreeState(file, () -> "dataset", tree);
    state.start(() -> false, clock);
    state.close();
  }

  @Test
  void close_whatIsKnown_isThereForTheNext() throws FsException {
    writeOne();
    Tree tree = tree();
    TreeState state = new TreeState(file, () -> "dataset", tree);
    state.load();
    assertThat(state.entriesLoaded()).isEqualTo(1);
    assertThat(tree.known(tree.root(), "file".getBytes(UTF_8))).isNotNull();
  }

  @Test
  void close_nothingChanged_writesNothing() throws Exception {
    writeOne();
    Tree tree = tree();
    TreeState state = new TreeState(file, () -> "dataset", tree);
    state.load();
    Files.delete(file);
    lookUp(tree);
    state.start(() -> true, clock);
    state.close();
    assertThat(file).doesNotExist();
  }

  /** A mount that did not come about says nothing of the dataset. */
  @Test
  void close_neverStarted_writesNothing() throws FsException {
    new TreeState(file, () -> "dataset", tree()).close();
    assertThat(file).doesNotExist();
  }

  @Test
  void scanned_whileItRuns_isWritten() throws FsException {
    Tree tree = tree();
    lookUp(tree);
    try (TreeState state = new TreeState(file, () -> "dataset", tree)) {
      state.start(() -> true, clock);
      Await.until("the file", () -> Files.exists(file));
    }
  }

  /** The file was written again at each look, five times a second, when memory was short. */
  @Test
  void scanned_noMemoryForTheFile_isNotWrittenAgainAtOnce() throws FsException {
    Tree tree = tree();
    lookUp(tree);
    AtomicInteger tries = new AtomicInteger();
    TreeState.Dataset dataset =
        () -> {
          tries.incrementAndGet();
          throw new OutOfMemoryError("made for the test");
        };
    ManualClock looks = new ManualClock();
    try (TreeState state = new TreeState(file, dataset, tree)) {
      state.start(() -> true, looks);
      looks.look.run();
      Await.until("a try", () -> tries.get() > 0);
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100);
      while (System.nanoTime() < end) {
        looks.look.run();
      }
      assertThat(tries).hasValue(1);
    } finally {
      Await.end(looks);
    }
  }

  /** Has the test run the looks for changes. */
  private static final class ManualClock extends ScheduledThreadPoolExecutor {
    private Runnable look = () -> {};

    ManualClock() {
      super(1);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(
        Runnable task, long initialDelay, long delay, TimeUnit unit) {
      look = task;
      return schedule(() -> {}, 0, unit);
    }
  }

  @Test
  void load_anotherDataset_isRefusedAndReplaced() throws FsException {
    writeOne();
    Tree tree = tree();
    TreeState state = new TreeState(file, () -> "another", tree);
    state.load();
    assertThat(state.entriesLoaded()).isZero();
    assertThat(tree.size()).as("only the root").isEqualTo(1);
    state.start(() -> false, clock);
    state.close();
    TreeState next = new TreeState(file, () -> "another", tree());
    next.load();
    assertThat(next.entriesLoaded()).isZero();
    TreeState former = new TreeState(file, () -> "dataset", tree());
    former.load();
    assertThat(former.entriesLoaded()).isZero();
  }

  @Test
  void load_damaged_knowsNothing() throws Exception {
    writeOne();
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 3] ^= 4;
    Files.write(file, bytes);
    Tree tree = tree();
    new TreeState(file, () -> "dataset", tree).load();
    assertThat(tree.size()).isEqualTo(1);
  }

  /** A file is in the place of the directory, so that even root cannot write. */
  @Test
  void close_noDirectory_isNoFailure() throws Exception {
    Files.createFile(temp.resolve("new"));
    writeOne();
    assertThat(temp.resolve("new")).isEmptyFile();
  }
}
