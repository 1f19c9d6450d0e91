package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.checkpoint.RandomProgram.Step;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import jnr.constants.platform.Errno;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.commons.io.FileUtils;
import org.jspecify.annotations.Nullable;

/**
 * The contract: whatever a program does, whenever the daemon is killed and however the store fails,
 * the store's tree is the program's tree of some moment, and at last that of now. The model is the
 * front's own tree, of which a picture is taken after each operation.
 */
final class PrefixTest {
  private static final long CAPACITY = 1L << 30;

  @Provide
  Arbitrary<List<Step>> programs() {
    Arbitrary<Integer> any = Arbitraries.integers().between(0, 1 << 20);
    Arbitrary<Integer> kind = Arbitraries.integers().between(0, Run.KINDS - 1);
    return Combinators.combine(kind, any, any, any).as(Step::new).list().ofMinSize(1).ofMaxSize(80);
  }

  @Property(tries = 1000)
  void store_isAPrefixOfTheProgram(@ForAll("programs") List<Step> program) throws Exception {
    try (Run run = new Run()) {
      for (Step step : program) {
        run.perform(step);
        run.checkStore();
      }
      run.persistAll();
      assertThat(run.store()).isEqualTo(run.front());
    }
  }

  /** The process is gone, in the middle of whatever it did. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** The outcome of the next call of the store. */
  private enum Fate {
    GOOD,
    FAILS,
    FAILS_AFTERWARDS,
    IS_KILLED,
    IS_KILLED_AFTERWARDS,
    /** The store's machine crashes, and has lost what was not synced when it answers again. */
    CRASHES,
    /** The store's machine crashes, and this process is killed. */
    CRASHES_WITH_THE_NODE
  }

  private static final List<Fate> BAD =
      List.of(Fate.values()).subList(1, Fate.values().length); // all but GOOD

  /** A store that fails and crashes, and whose process is killed, as fate wants. */
  private static final class FatedStore extends ForwardingStore {
    private final Runnable crashed;
    private Fate next = Fate.GOOD;

    /**
     * The file that was written since the last sync, and its bytes before; null if there is none.
     */
    private byte @Nullable [] before;

    private String written = "";

    /** Creates one that tells its crashes. */
    FatedStore(DirectoryStore store, Runnable crashed) {
      super(store);
      this.crashed = crashed;
    }

    /** Another process begins to use the store. */
    void reopen(DirectoryStore another) {
      forwardTo(another);
      next = Fate.GOOD;
    }

    private void crash() throws ErrnoException {
      if (before != null) {
        int fd = store().tree().open(written, FileTree.O_RDWR);
        long memory = LIBC.malloc(before.length + 1L);
        Memory.put(memory, before, 0, before.length);
        assertThat(LIBC.ftruncate(fd, 0)).isZero();
        assertThat(FileTree.write(fd, memory, before.length, 0)).isEqualTo(before.length);
        LIBC.free(memory);
        LIBC.close(fd);
        before = null;
      }
      crashed.run();
    }

    private void remember(String path) throws ErrnoException {
      if (before == null) {
        int fd = store().tree().open(path, Linux.O_RDONLY);
        int length = (int) FileTree.stat(fd).size();
        long memory = LIBC.malloc(length + 1L);
        FileTree.readFully(fd, memory, length, 0, path);
        before = Memory.bytes(memory, length);
        LIBC.free(memory);
        LIBC.close(fd);
        written = path;
      }
      assertThat(path).as("one file at most is not durable at any time").isEqualTo(written);
    }

    private interface Call {
      void run() throws ErrnoException;
    }

    private void run(Call call) throws ErrnoException {
      Fate fate = next;
      next = Fate.GOOD;
      if (fate == Fate.FAILS) {
        throw ErrnoException.of(Errno.EIO, "fate");
      } else if (fate == Fate.IS_KILLED) {
        throw new Killed();
      } else if (fate == Fate.CRASHES) {
        crash();
        throw ErrnoException.of(Errno.EIO, "fate");
      } else if (fate == Fate.CRASHES_WITH_THE_NODE) {
        crash();
        throw new Killed();
      }
      call.run();
      if (fate == Fate.FAILS_AFTERWARDS) {
        throw ErrnoException.of(Errno.EIO, "fate");
      } else if (fate == Fate.IS_KILLED_AFTERWARDS) {
        throw new Killed();
      }
    }

    @Override
    public void write(String path, long address, int length, long offset) throws ErrnoException {
      run(
          () -> {
            remember(path);
            store().write(path, address, length, offset);
          });
    }

    @Override
    public void sync(long modified) throws ErrnoException {
      run(
          () -> {
            store().sync(modified);
            before = null;
          });
    }

    @Override
    public void apply(Operation operation) throws ErrnoException {
      run(() -> store().apply(operation));
    }
  }

  /** A program with its front and store. */
  private static final class Run implements AutoCloseable {
    static final int KINDS = RandomProgram.KINDS + 5;

    private final Path directory;
    private final Path frontPath;
    private final Path storePath;
    private final AtomicLong clock = new AtomicLong(1_700_000_000_000_000_000L);
    private final Map<Long, Map<String, String>> pictures = new HashMap<>();
    private final RandomProgram program = new RandomProgram(() -> this.front);
    private Front front;
    private @Nullable FatedStore store;
    private Persister persister;
    private long taken;

    Run() throws IOException {
      Path fast = Path.of("/dev/shm");
      directory =
          Files.createTempDirectory(Files.isWritable(fast) ? fast : Path.of("/tmp"), "prefix");
      frontPath = directory.resolve("front");
      storePath = Files.createDirectory(directory.resolve("store"));
      open();
      pictures.put(front.last(), front());
    }

    private void open() throws IOException {
      front = new Front(frontPath, CAPACITY, true, clock::incrementAndGet);
      DirectoryStore kept = new DirectoryStore(storePath, "this node", false);
      if (store == null) {
        store = new FatedStore(kept, () -> taken = 0);
      } else {
        store.reopen(kept);
      }
      persister = new Persister(front, store, 0, 0, SaveMeter.ofProcess());
    }

    /** The process was killed: nothing is written any more, and all is read again. */
    private void reopen() throws IOException {
      program.closeFiles();
      front.closeFiles();
      store.close();
      open();
    }

    void perform(Step step) throws Exception {
      switch (step.kind()) {
        case 17, 18, 19 -> persist(1 + step.one() % 4);
        case 20 -> {
          store.next = BAD.get(step.one() % BAD.size());
          persist(2);
        }
        case 21 -> killedBefore(new Operation.Rename(step.first(), step.second(), 0), step.three());
        default -> program.perform(step);
      }
      pictures.put(front.last(), front());
    }

    /** The process was killed after it had logged an operation, and before it performed it. */
    private void killedBefore(Operation operation, int which) throws IOException {
      final Map<String, String> before = front();
      if (which % 2 == 0 && front.tree().find(operation.paths().get(0)).isPresent()) {
        long next = front.last() + 1;
        long witness = operation.witness(front.tree());
        front.closeFiles();
        try (OperationsLog log =
            new OperationsLog(frontPath.resolve("log"), next, new Ignoring())) {
          log.append(clock.incrementAndGet(), witness, operation);
        }
        front = new Front(frontPath, CAPACITY, true, clock::incrementAndGet);
      }
      reopen();
      assertThat(front()).isEqualTo(before);
    }

    private static final class Ignoring implements OperationsLog.Reader {
      @Override
      public void entry(OperationsLog.Entry entry) {}

      @Override
      public void saved(OperationsLog.Saved saved) {}
    }

    /** Persists some operations, as far as fate allows. */
    private void persist(int steps) throws Exception {
      for (int i = 0; i < steps && front.usage().pendingOperations() > 0; i++) {
        try {
          persister.stepNow();
        } catch (ErrnoException e) {
          assertThat(e.path()).isEqualTo("fate");
          persister.failed(e);
        } catch (Killed e) {
          reopen();
        }
      }
    }

    void persistAll() throws Exception {
      while (front.usage().pendingOperations() > 0) {
        persist(1);
        checkStore();
      }
    }

    /**
     * The store is that of a moment, has at least what is said to be durable, and never goes back
     * unless its machine crashes. Several moments may look the same: the first is taken that is not
     * before an earlier one, so that no later check fails because of the choice.
     */
    void checkStore() throws IOException {
      Map<String, String> now = store();
      long first = Math.max(taken, front.durable());
      long moment = first;
      while (moment <= front.last() && !now.equals(pictures.get(moment))) {
        moment++;
      }
      assertThat(moment)
          .as("the store is that of no moment since %d: %s", first, now)
          .isLessThanOrEqualTo(front.last());
      taken = moment;
    }

    Map<String, String> front() throws IOException {
      return Picture.of(front);
    }

    Map<String, String> store() throws IOException {
      return Picture.of(store.store().tree());
    }

    @Override
    public void close() throws IOException {
      program.closeFiles();
      front.closeFiles();
      store.close();
      FileUtils.deleteDirectory(directory.toFile());
    }
  }
}
