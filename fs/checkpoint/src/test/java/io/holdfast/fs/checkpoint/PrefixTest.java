package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
  private static final List<String> NAMES =
      List.of("a", "b", "d", "d/x", "d/y", "e", "e/x", "e/d", "latest");
  private static final int LARGEST = 9000;
  private static final long CAPACITY = 1L << 30;

  /** A step of a program or of fate; the numbers choose names, places and lengths. */
  record Step(int kind, int one, int two, int three) {}

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
  private static final class FatedStore implements Store {
    private final Runnable crashed;
    private DirectoryStore store;
    private Fate next = Fate.GOOD;

    /**
     * The file that was written since the last sync, and its bytes before; null if there is none.
     */
    private byte @Nullable [] before;

    private String written = "";

    /** Creates one that tells its crashes. */
    FatedStore(DirectoryStore store, Runnable crashed) {
      this.store = store;
      this.crashed = crashed;
    }

    /** Another process begins to use the store. */
    void reopen(DirectoryStore another) {
      store = another;
      next = Fate.GOOD;
    }

    private void crash() throws ErrnoException {
      if (before != null) {
        int fd = store.tree().open(written, FileTree.O_RDWR);
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
        int fd = store.tree().open(path, Linux.O_RDONLY);
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
    public void checkOwner() throws ErrnoException {
      store.checkOwner();
    }

    @Override
    public void write(String path, long address, int length, long offset) throws ErrnoException {
      run(
          () -> {
            remember(path);
            store.write(path, address, length, offset);
          });
    }

    @Override
    public void sync(long modified) throws ErrnoException {
      run(
          () -> {
            store.sync(modified);
            before = null;
          });
    }

    @Override
    public void apply(Operation operation) throws ErrnoException {
      run(() -> store.apply(operation));
    }

    @Override
    public long witness(Operation operation) throws ErrnoException {
      return store.witness(operation);
    }

    @Override
    public boolean isApplied(Operation operation, long witness) throws ErrnoException {
      return store.isApplied(operation, witness);
    }

    @Override
    public void release(boolean nothingPending) {
      store.release(nothingPending);
    }

    @Override
    public void close() {
      store.close();
    }
  }

  /** A program with its front and store. */
  private static final class Run implements AutoCloseable {
    static final int KINDS = 22;

    private final Path directory;
    private final Path frontPath;
    private final Path storePath;
    private final AtomicLong clock = new AtomicLong(1_700_000_000_000_000_000L);
    private final Map<Long, Map<String, String>> pictures = new HashMap<>();
    private final List<int[]> held = new ArrayList<>();
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
      DirectoryStore kept = new DirectoryStore(storePath, "this node");
      if (store == null) {
        store = new FatedStore(kept, () -> taken = 0);
      } else {
        store.reopen(kept);
      }
      persister = new Persister(front, store, 0, 0, new SaveMeter(System::nanoTime));
    }

    /** The process was killed: nothing is written any more, and all is read again. */
    private void reopen() throws IOException {
      for (int[] file : held) {
        LIBC.close(file[0]);
      }
      held.clear();
      front.closeFiles();
      store.close();
      open();
    }

    void perform(Step step) throws Exception {
      String one = NAMES.get(step.one() % NAMES.size());
      String two = NAMES.get(step.two() % NAMES.size());
      long number = step.three() % LARGEST;
      int me = Integer.parseInt(Files.getAttribute(directory, "unix:uid").toString());
      switch (step.kind()) {
        case 0, 1 -> make(new Operation.Make(one, Stat.REGULAR | 0640, 0, me, me, ""));
        case 2 -> make(new Operation.Make(one, Stat.DIRECTORY | 0750, 0, me, me, ""));
        case 3 -> make(new Operation.Make(one, Stat.SYMLINK | 0777, 0, me, me, two));
        case 4 -> make(new Operation.Link(one, two));
        case 5 -> make(new Operation.Remove(one, step.three() % 2 == 0));
        case 6, 7 -> make(new Operation.Rename(one, two, 0));
        case 8 -> make(new Operation.Rename(one, two, 1 + step.three() % 2));
        case 9 -> resize(one, number);
        case 10, 11, 12 -> write(one, step.two() % LARGEST, step.three());
        case 13 ->
            make(new Operation.Attributes(one, 0600 + step.two() % 64, -1, -1, number, number));
        case 14 -> make(new Operation.SetXattr(one, "user.x", "v" + step.three(), 0));
        case 15 -> hold(one);
        case 16 -> writeHeld(step.two() % LARGEST, step.three());
        case 17, 18, 19 -> persist(1 + step.one() % 4);
        case 20 -> {
          store.next = BAD.get(step.one() % BAD.size());
          persist(2);
        }
        default -> killedBefore(new Operation.Rename(one, two, 0), step.three());
      }
      pictures.put(front.last(), front());
    }

    /** Performs an operation, which fails if it makes no sense, as it would for a program. */
    private void make(Operation operation) throws InterruptedException {
      try {
        if (operation instanceof Operation.Link link
            && front.tree().stat(link.existing()).isDirectory()) {
          return;
        }
        front.perform(() -> operation);
      } catch (ErrnoException e) {
        assertThat(e.errno()).isNotEqualTo(Errno.EIO.intValue());
      }
    }

    private void resize(String path, long size) throws ErrnoException, InterruptedException {
      if (front.tree().find(path).filter(Stat::isRegular).isPresent()) {
        front.perform(() -> new Operation.Resize(path, size));
      }
    }

    private void write(String path, long offset, int seed) throws Exception {
      if (front.tree().find(path).filter(Stat::isRegular).isPresent()) {
        int fd = front.tree().open(path, FileTree.O_RDWR);
        write(fd, offset, seed);
        LIBC.close(fd);
      }
    }

    private void hold(String path) throws ErrnoException {
      if (front.tree().find(path).filter(Stat::isRegular).isPresent()) {
        held.add(new int[] {front.tree().open(path, FileTree.O_RDWR)});
      }
    }

    private void writeHeld(long offset, int seed) throws Exception {
      if (!held.isEmpty()) {
        write(held.get(seed % held.size())[0], offset, seed);
      }
    }

    private void write(int fd, long offset, int seed) throws Exception {
      int length = 1 + seed % LARGEST;
      byte[] bytes = new byte[length];
      new java.util.Random(seed).nextBytes(bytes);
      long memory = LIBC.malloc(length);
      Memory.put(memory, bytes, 0, length);
      long inode = FileTree.stat(fd).inode();
      int written = front.write(() -> front.pathOf(inode), fd, inode, memory, length, offset);
      assertThat(written).isEqualTo(length);
      LIBC.free(memory);
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
      return picture(front.tree(), true);
    }

    Map<String, String> store() throws IOException {
      return picture(store.store.tree(), false);
    }

    /** Returns types, modes, links, targets, attributes and bytes. */
    private Map<String, String> picture(FileTree tree, boolean isFront) throws IOException {
      Map<String, String> picture = new TreeMap<>();
      Map<Long, String> links = new HashMap<>();
      add(tree, "", picture, links, isFront);
      picture.remove(DirectoryStore.OWNER);
      return picture;
    }

    private void add(
        FileTree tree,
        String path,
        Map<String, String> picture,
        Map<Long, String> links,
        boolean isFront)
        throws IOException {
      List<FileTree.Entry> entries = new ArrayList<>(tree.list(path));
      entries.sort(java.util.Comparator.comparing(FileTree.Entry::name));
      for (FileTree.Entry entry : entries) {
        String child = FileTree.child(path, entry.name());
        Stat stat = isFront ? front.stat(child) : tree.stat(child);
        String content = content(tree, child, stat);
        String first = links.computeIfAbsent(stat.inode(), inode -> child);
        picture.put(
            child,
            "%o of %s, %d links %s %s"
                .formatted(
                    stat.mode(),
                    first,
                    stat.isDirectory() ? 0 : stat.links(),
                    xattr(tree, child, stat),
                    content));
        if (stat.isDirectory()) {
          add(tree, child, picture, links, isFront);
        }
      }
    }

    private static @Nullable String xattr(FileTree tree, String path, Stat stat)
        throws IOException {
      boolean has = !stat.isSymlink() && tree.xattrNames(path).contains("user.x");
      return has ? FileTree.bytesAsText(tree.xattr(path, "user.x")) : null;
    }

    private static String content(FileTree tree, String path, Stat stat) throws IOException {
      if (stat.isSymlink()) {
        return tree.readLink(path);
      }
      if (!stat.isRegular()) {
        return "";
      }
      int fd = tree.open(path, Linux.O_RDONLY);
      int length = (int) stat.size();
      long memory = LIBC.malloc(length + 1L);
      FileTree.readFully(fd, memory, length, 0, path);
      int crc = OperationsLog.crc(Memory.buffer(memory, length));
      LIBC.free(memory);
      LIBC.close(fd);
      return length + " bytes " + Integer.toHexString(crc);
    }

    @Override
    public void close() throws IOException {
      for (int[] file : held) {
        LIBC.close(file[0]);
      }
      front.closeFiles();
      store.close();
      FileUtils.deleteDirectory(directory.toFile());
    }
  }
}
