package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.linux.Memory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class PersisterTest {
  private static final long CAPACITY = 3L << 20;
  private static final long LONG = TimeUnit.SECONDS.toNanos(30);
  private static final int PART = 1 << 20;

  /** The lock is not fair: on a loaded machine they would go on for as long as the other waits. */
  private static final int MOST_RENAMES = 500;

  @TempDir Path directory;

  private final AtomicLong clock = new AtomicLong(1_700_000_000_000_000_000L);
  private final long memory = LIBC.malloc(PART);
  private Path storePath;
  private Front front;
  private DirectoryStore store;
  private Persister persister;

  @BeforeEach
  void open() throws Exception {
    Memory.clear(memory, PART);
    storePath = Files.createDirectory(directory.resolve("store"));
    front = new Front(directory.resolve("front"), CAPACITY, true, clock::incrementAndGet);
    store = new DirectoryStore(storePath, "one", false);
    persister = new Persister(front, store, 0, 0, SaveMeter.ofProcess());
  }

  @AfterEach
  void close() {
    front.close();
    persister.close();
    front.closeFiles();
    store.close();
    LIBC.free(memory);
  }

  private void write(String name, int parts) throws Exception {
    int me = (Integer) Files.getAttribute(directory, "unix:uid");
    front.perform(() -> new Operation.Make(name, Stat.REGULAR | 0600, 0, me, me, ""));
    int fd = front.tree().open(name, FileTree.O_RDWR);
    long inode = FileTree.stat(fd).inode();
    for (int i = 0; i < parts; i++) {
      front.write(() -> name, fd, inode, memory, PART, (long) i * PART);
    }
    LIBC.close(fd);
  }

  @Test
  void writer_waitsWhileTheFrontIsFull_andGoesOn() throws Exception {
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              try {
                write("a", 8);
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    while (front.usage().waiting() == 0) {
      front.awaitChange(TimeUnit.MILLISECONDS.toNanos(1));
      assertThat(writer.isDone()).isFalse();
    }
    assertThat(front.usage().bytes()).isLessThanOrEqualTo(CAPACITY);
    persister.start();
    writer.get(30, TimeUnit.SECONDS);
    assertThat(persister.await(front.last(), LONG)).isTrue();
    assertThat(storePath.resolve("a")).hasSize(8L * PART);
  }

  /** Each keeps a thread of the mount: all others would wait, too, and no signal would end one. */
  @Test
  void writers_ofWhichTooManyWait_getAnError() throws Exception {
    front.waits().allow(1);
    write("a", 2);
    write("b", 0);
    write("c", 0);
    CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> writeTo("b"));
    while (front.usage().waiting() == 0) {
      front.awaitChange(TimeUnit.MILLISECONDS.toNanos(1));
      assertThat(first.isDone()).isFalse();
    }

    assertThatThrownBy(() -> writeTo("c"))
        .hasRootCauseMessage("too many programs wait for the store")
        .hasRootCauseInstanceOf(ErrnoException.class);

    persister.start();
    assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo(PART);
    assertThat(writeTo("c")).isEqualTo(PART);
  }

  private int writeTo(String name) {
    try {
      int fd = front.tree().open(name, FileTree.O_RDWR);
      try {
        return front.write(() -> name, fd, FileTree.stat(fd).inode(), memory, PART, 0);
      } finally {
        LIBC.close(fd);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** The log gets the bytes that a truncation destroys and the store does not have yet. */
  @Test
  void truncation_waitsUntilThereIsRoom_forWhatItDestroys() throws Exception {
    write("a", 2);
    CompletableFuture<Void> truncation =
        CompletableFuture.runAsync(
            () -> {
              try {
                front.perform(() -> new Operation.Resize("a", 0));
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    while (front.usage().waiting() == 0) {
      front.awaitChange(TimeUnit.MILLISECONDS.toNanos(1));
      assertThat(truncation.isDone()).isFalse();
    }
    persister.start();
    truncation.get(30, TimeUnit.SECONDS);
    assertThat(persister.await(front.last(), LONG)).isTrue();
    assertThat(storePath.resolve("a")).isEmptyFile();
  }

  /** Each name was a file of its own, and the bytes of the first one were nowhere. */
  @Test
  void fileWithTwoNames_thatTheStoreHasLost_isBroughtOnce() throws Exception {
    write("a", 1);
    front.perform(() -> new Operation.Link("a", "b"));
    front.perform(() -> new Operation.Link("a", "c"));
    persister.start();
    assertThat(persister.await(front.last(), LONG)).isTrue();
    Files.delete(storePath.resolve("a"));
    Files.writeString(storePath.resolve("b"), "x");
    Files.delete(storePath.resolve("c"));
    Files.writeString(storePath.resolve("c"), "y");

    new Reconciliation(front, store).run();
    assertThat(persister.await(front.last(), LONG)).isTrue();

    for (String name : List.of("a", "b", "c")) {
      assertThat(storePath.resolve(name)).hasSize(PART);
      assertThat(Files.getAttribute(storePath.resolve(name), "unix:ino"))
          .isEqualTo(Files.getAttribute(storePath.resolve("a"), "unix:ino"));
    }
    assertThat(new Reconciliation(front, store).run()).isZero();
  }

  private void fill() {
    byte[] bytes = new byte[PART];
    java.util.Arrays.fill(bytes, (byte) 1);
    Memory.put(memory, bytes, 0, PART);
  }

  /**
   * The operations that an interrupted comparison had logged had the next one left out. Files that
   * it had not come to counted as the store's, and could become stubs whose bytes nobody had.
   */
  @Test
  void comparisonThatWasInterrupted_isDoneAgain_andNoFileBecomesAStubMeanwhile() throws Exception {
    fill();
    for (String name : List.of("a", "b", "c")) {
      write(name, 0);
      int fd = front.tree().open(name, FileTree.O_RDWR);
      front.write(() -> name, fd, FileTree.stat(fd).inode(), memory, 1000, 0);
      LIBC.close(fd);
    }
    persist();
    for (String name : List.of("a", "b", "c")) {
      Files.delete(storePath.resolve(name));
    }
    Files.createDirectory(storePath.resolve("b"));
    assertThatThrownBy(() -> new Reconciliation(front, store).run())
        .hasMessageContaining("b: is of another type in the store");
    Files.delete(storePath.resolve("b"));

    openAgain(0);
    assertThat(front.isComparing()).isTrue();
    assertThat(front.pendingOperations()).isPositive();
    persist();
    front.makeStubs((path, bytes) -> true);
    new Reconciliation(front, store).run();
    persist();

    for (String name : List.of("a", "b", "c")) {
      assertThat(storePath.resolve(name)).hasSameBinaryContentAs(storePath.resolve("a"));
      assertThat(isStub(name)).isFalse();
    }
    assertThat(storePath.resolve("a")).hasSize(1000);
    assertThat(Files.readAllBytes(storePath.resolve("a"))).containsOnly(1);
    openAgain(0);
    assertThat(front.isComparing()).isFalse();
    front.makeStubs((path, bytes) -> true);
    assertThat(isStub("c")).isTrue();
  }

  /**
   * It got its size first, and zeroes: a comparison that was interrupted then saw no difference.
   */
  @ParameterizedTest
  @ValueSource(longs = {0, PART, 3L * PART})
  void fileThatTheStoreHasWithAnotherSize_getsItsSizeLast(long size) throws Exception {
    fill();
    write("a", 2);
    persist();
    Path file = storePath.resolve("a");
    final byte[] bytes = Files.readAllBytes(file);
    try (var channel =
        java.nio.channels.FileChannel.open(file, java.nio.file.StandardOpenOption.WRITE)) {
      channel.truncate(0);
      channel.write(java.nio.ByteBuffer.allocate((int) size));
    }

    new Reconciliation(front, store).run();

    while (front.pendingOperations() > 0) {
      persister.stepNow();
      if (Files.size(file) == bytes.length) {
        assertThat(file).hasBinaryContent(bytes);
      }
    }
    assertThat(file).hasBinaryContent(bytes);
  }

  /** It would take room for ever, and show the file with a link too many. */
  @Test
  void secondNameOfAFile_thatAKilledProcessHasLeft_goes() throws Exception {
    write("a", 1);
    persister.start();
    assertThat(persister.await(front.last(), LONG)).isTrue();
    Path frontPath = directory.resolve("front");
    Path left = frontPath.resolve("data/" + front.tree().stat("a").inode());
    Files.createLink(left, frontPath.resolve("tree/a"));

    new Front(frontPath, CAPACITY, true, clock::incrementAndGet).closeFiles();

    assertThat(left).doesNotExist();
  }

  @Test
  void filesThatTheStoreHas_makeRoom_andStayReadable() throws Exception {
    persister.start();
    for (int i = 0; i < 4; i++) {
      write("f" + i, 2);
      assertThat(persister.await(front.last(), LONG)).isTrue();
    }
    assertThat(front.usage().bytes()).isLessThanOrEqualTo(CAPACITY);
    assertThat(front.isStub(front.tree().stat("f0").inode())).isTrue();
    assertThat(front.tree().stat("f0").size()).isEqualTo(2L * PART);
    assertThat(front.isStub(front.tree().stat("f3").inode())).isFalse();
  }

  @Test
  void await_whileTheStoreFails_saysWhy_andSucceedsLater() throws Exception {
    Files.writeString(storePath.resolve("a"), "not ours");
    write("a", 1);
    persister.start();
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> persister.await(front.last(), LONG))
          .hasMessageStartingWith("a: ")
          .hasMessageContaining("this node did not make it");
    }
    assertThat(persister.progress().errors()).isGreaterThanOrEqualTo(2);
    Files.delete(storePath.resolve("a"));
    boolean durable = false;
    while (!durable) {
      try {
        durable = persister.await(front.last(), LONG);
      } catch (ErrnoException e) {
        assertThat(e.path()).isEqualTo("a"); // an attempt that had begun before
      }
    }
    assertThat(storePath.resolve("a")).hasSize(PART);
  }

  /** A command that asks again and again did not hear of it. */
  @Test
  void failureBetweenTwoQuestions_isToldByTheNext() throws Exception {
    Files.writeString(storePath.resolve("a"), "not ours");
    write("a", 1);
    long known = persister.failures();
    assertThat(persister.await(front.last(), 0, known)).isFalse();
    assertThatThrownBy(persister::stepNow)
        .isInstanceOfSatisfying(ErrnoException.class, persister::failed);

    assertThatThrownBy(() -> persister.await(front.last(), 0, known))
        .hasMessageContaining("this node did not make it");
    assertThat(persister.await(front.last(), 0)).as("of who asks first now").isFalse();
    assertThat(persister.await(front.last(), 0, 1000)).as("of an earlier daemon").isFalse();
  }

  @Test
  void secondWriter_isRefused_andToldWhoWrites() {
    assertThatThrownBy(() -> new DirectoryStore(storePath, "other", false))
        .hasMessageContaining("is written by one")
        .hasMessageContaining(Store.OWNER);
  }

  @Test
  void storeTakenOver_getsNothingMore() throws Exception {
    Files.writeString(storePath.resolve(Store.OWNER), "other");
    write("a", 1);
    persister.start();
    assertThatThrownBy(() -> persister.await(front.last(), LONG))
        .hasMessageContaining("taken the store over");
    assertThat(storePath.resolve("a")).doesNotExist();
  }

  @Test
  void damagedBytes_afterACrash_endWhatIsPersisted() throws Exception {
    write("a", 1);
    write("b", 1);
    try (var channel =
        java.nio.channels.FileChannel.open(
            directory.resolve("front/tree/b"), java.nio.file.StandardOpenOption.WRITE)) {
      channel.write(java.nio.ByteBuffer.wrap(new byte[] {1}), 100);
    }
    assertThat(front.dropDamaged()).isEqualTo(1);
    persister.start();
    assertThat(persister.await(front.lastPending(), LONG)).isTrue();
    assertThat(storePath.resolve("a")).hasSize(PART);
    assertThat(storePath.resolve("b")).isEmptyFile();
  }

  private void persist() throws Exception {
    while (front.usage().pendingOperations() > 0) {
      persister.stepNow();
    }
  }

  private void openAgain(int keep) throws Exception {
    front.closeFiles();
    front = new Front(directory.resolve("front"), CAPACITY, true, clock::incrementAndGet);
    persister.close();
    persister = new Persister(front, store, 0, keep, SaveMeter.ofProcess());
  }

  /**
   * The process was killed when a part of a write was in the file, and the write was the only one
   * of the file that the store did not have. The part lost the second name of its file at the next
   * start: the persister never found its bytes.
   */
  @Test
  void writeThatAKillHasCut_goesToTheStoreAsFarAsItWasDone() throws Exception {
    write("a", 1);
    persist();
    long inode = front.tree().stat("a").inode();
    long next = front.last() + 1;
    Path frontPath = directory.resolve("front");
    byte[] bytes = new byte[PART];
    java.util.Arrays.fill(bytes, 0, 1000, (byte) 1); // all were to be 1
    try (OperationsLog log = new OperationsLog(frontPath.resolve("log"), next, new NoReader())) {
      log.append(1, 0, new Operation.Write("a", inode, 0, PART, 12345));
    }
    Files.createLink(frontPath.resolve("data/" + inode), frontPath.resolve("tree/a"));
    Files.write(frontPath.resolve("tree/a"), bytes, java.nio.file.StandardOpenOption.WRITE);

    openAgain(0);

    assertThat(front.usage().pendingBytes()).isEqualTo(PART);
    assertThat(front.stat("a").links()).isEqualTo(1);
    persist();
    assertThat(storePath.resolve("a")).hasBinaryContent(bytes);
  }

  /** A name that a rename gave to another file had that one take the bytes that were fetched. */
  @Test
  void fetch_whileTheNameChangesItsFile_fillsTheRightOne() throws Exception {
    for (int round = 0; round < 20; round++) {
      String a = "a" + round;
      String b = "b" + round;
      write(a, 1);
      write(b, 1);
      persist();
      front.makeStubs((path, bytes) -> true);
      Stat stub = front.tree().stat(a);
      int stored = store.openToRead(a, stub);
      CountDownLatch begun = new CountDownLatch(1);
      java.util.concurrent.atomic.AtomicBoolean done =
          new java.util.concurrent.atomic.AtomicBoolean();
      CompletableFuture<Void> renames =
          CompletableFuture.runAsync(
              () -> {
                try {
                  for (int i = 0; i < MOST_RENAMES && !done.get(); i++) {
                    begun.countDown();
                    front.perform(() -> new Operation.Rename(a, b, Operation.Rename.EXCHANGE));
                  }
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      begun.await();
      front.fetch(stub.inode(), stored, memory, PART);
      done.set(true);
      renames.get(30, TimeUnit.SECONDS);
      LIBC.close(stored);

      for (String name : List.of(a, b)) {
        Stat now = front.tree().stat(name);
        boolean isFetched = now.inode() == stub.inode();
        assertThat(front.isStub(now.inode())).as(name).isEqualTo(!isFetched);
        assertThat(now.blocks() > 0).as("bytes of " + name).isEqualTo(isFetched);
      }
      persist();
    }
  }

  /** The store had the link, so that a change by the name that is gone was not waited for. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void changeByAName_thatTheFileHasLost_isWaitedFor(boolean isReplaced) throws Exception {
    write("a", 1);
    write("x", 1);
    front.perform(() -> new Operation.Link("a", "b"));
    persist();
    assertThat(front.lastOf("b")).isEqualTo(front.durable());

    int fd = front.tree().open("a", FileTree.O_RDWR);
    front.write(() -> "a", fd, FileTree.stat(fd).inode(), memory, 1000, 0);
    LIBC.close(fd);
    long written = front.last();
    front.perform(() -> new Operation.Resize("a", 100));
    if (isReplaced) {
      front.perform(() -> new Operation.Rename("x", "a", 0));
    } else {
      front.perform(() -> new Operation.Remove("a", false));
    }
    assertThat(front.stat("b").links()).isEqualTo(1);

    assertThat(front.lastOf("b")).isEqualTo(front.last());
    persister.stepNow(); // taken, not durable
    assertThat(front.lastOf("b")).isEqualTo(front.last());
    openAgain(0);
    assertThat(front.lastOf("b")).isEqualTo(written);
    persist();
    assertThat(front.lastOf("b")).isEqualTo(front.durable());
  }

  private static final class NoReader implements OperationsLog.Reader {
    @Override
    public void entry(OperationsLog.Entry entry) {}

    @Override
    public void saved(OperationsLog.Saved saved) {}
  }

  /** The waiting thread held the front's lock and turned in circles: the daemon never ended. */
  @Test
  void await_endsWhenTheFrontIsClosed() throws Exception {
    write("a", 1);
    front.close();

    assertThatThrownBy(() -> persister.await(front.last(), LONG)).hasMessage("the daemon ends");
    assertThat(front.pendingOperations()).isEqualTo(2);
  }

  @Test
  void frontThatIsClosed_takesNoChange() throws Exception {
    write("a", 1);
    long last = front.last();
    front.close();

    assertThatThrownBy(() -> front.perform(() -> new Operation.Remove("a", false)))
        .hasMessage("the daemon ends");
    int fd = front.tree().open("a", FileTree.O_RDWR);
    long inode = FileTree.stat(fd).inode();
    assertThatThrownBy(() -> front.write(() -> "a", fd, inode, memory, PART, 0))
        .hasMessage("the daemon ends");
    LIBC.close(fd);
    assertThat(front.last()).isEqualTo(last);
  }

  private static List<Operation> refused() {
    return List.of(
        new Operation.Remove("full", true),
        new Operation.Remove("a", true),
        new Operation.Remove("empty", false),
        new Operation.Rename("empty", "full", 0),
        new Operation.Rename("empty", "a", 0),
        new Operation.Rename("a", "empty", 0),
        new Operation.Rename("full", "full/in", 0),
        new Operation.Rename("full/x", "full", Operation.Rename.EXCHANGE),
        new Operation.Rename("empty", "none", Operation.Rename.EXCHANGE),
        new Operation.Rename("a", "full/x", Operation.Rename.NOREPLACE),
        new Operation.Link("a", "full/x"));
  }

  /**
   * The log had it until the file system refused it. If another thread had synced the log by then,
   * a crash of the machine brought it back, and the store refused it at every mount.
   */
  @ParameterizedTest
  @MethodSource("refused")
  void changeThatIsRefused_isNeverInTheLog(Operation refused) throws Exception {
    front.perform(() -> make("full"));
    front.perform(() -> make("empty"));
    write("a", 0);
    write("full/x", 0);
    Path log = directory.resolve("front/log/%020d.log".formatted(1));
    FileTime before = FileTime.fromMillis(1000);
    Files.setLastModifiedTime(log, before);

    assertThatThrownBy(() -> front.perform(() -> refused)).isInstanceOf(ErrnoException.class);

    assertThat(Files.getLastModifiedTime(log)).isEqualTo(before);
    front.perform(() -> new Operation.Rename("full", "full", 0));
    front.perform(() -> new Operation.Rename("full", "empty", 0));
    assertThat(Files.getLastModifiedTime(log)).isNotEqualTo(before);
    persist();
    assertThat(storePath.resolve("empty/x")).exists();
  }

  /** A store whose sync fails, as that of a full NFS server does. */
  private static final class UnsyncedStore extends ForwardingStore {
    private final List<Boolean> told = new ArrayList<>();
    private final List<Long> times = new ArrayList<>();
    private final CountDownLatch attempts = new CountDownLatch(5);
    private final List<Boolean> toldByWrites = new ArrayList<>();
    private final CountDownLatch writes = new CountDownLatch(4);
    private int failures = Integer.MAX_VALUE;
    private BooleanSupplier fails = () -> false;

    UnsyncedStore(DirectoryStore store) {
      super(store);
    }

    @Override
    public void checkOwner() {}

    @Override
    public void write(String path, long address, int length, long offset) {
      toldByWrites.add(fails.getAsBoolean());
      writes.countDown();
    }

    @Override
    public void sync(long modified) throws ErrnoException {
      told.add(fails.getAsBoolean());
      times.add(System.nanoTime());
      attempts.countDown();
      if (told.size() > failures) {
        return;
      }
      throw ErrnoException.of(Errno.ENOSPC, "a");
    }

    @Override
    public void apply(Operation operation) {}

    @Override
    public long witness(Operation operation) {
      return 0;
    }

    @Override
    public boolean isApplied(Operation operation, long witness) {
      return false;
    }

    @Override
    public void release(boolean nothingPending) {}

    @Override
    public void close() {}
  }

  /** It takes each write, but nothing is durable: it got all again ten times a second. */
  @Test
  void storeThatFailsToSync_isAskedWithPausesThatGrow_andFailsAllTheTime() throws Exception {
    UnsyncedStore unsynced = new UnsyncedStore(store);
    Persister failing = new Persister(front, unsynced, 0, 0, SaveMeter.ofProcess());
    unsynced.fails = () -> failing.progress().fails();
    write("a", 1);

    failing.start();
    unsynced.attempts.await();
    failing.close();

    assertThat(unsynced.told.subList(0, 5)).containsExactly(false, true, true, true, true);
    assertThat(unsynced.times.get(4) - unsynced.times.get(0))
        .as("0.1, 0.2, 0.4 and 0.8 s")
        .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(1500));
  }

  /** Each write overlaps the one before, so that there is always one that is not durable yet. */
  @Test
  void storeThatWorksAgain_fails_onlyUntilItsFirstSync() throws Exception {
    UnsyncedStore unsynced = new UnsyncedStore(store);
    unsynced.failures = 1;
    Persister failing = new Persister(front, unsynced, 0, 0, SaveMeter.ofProcess());
    unsynced.fails = () -> failing.progress().fails();
    write("a", 1);
    int fd = front.tree().open("a", FileTree.O_RDWR);
    long inode = FileTree.stat(fd).inode();
    for (int i = 0; i < 2; i++) {
      front.write(() -> "a", fd, inode, memory, PART / 8, 0);
    }
    LIBC.close(fd);

    failing.start();
    unsynced.writes.await();
    failing.close();

    assertThat(unsynced.toldByWrites.subList(0, 4)).containsExactly(false, true, true, false);
  }

  /** Savers write to a name of their own first, often always the same. */
  @Test
  void keep_countsCheckpointsByTheirLastNames() throws Exception {
    openAgain(1);
    for (String checkpoint : new String[] {"step-1", "step-2"}) {
      front.perform(() -> make("tmp"));
      write("tmp/x", 1);
      front.perform(() -> new Operation.Rename("tmp", checkpoint, 0));
      persist();
    }

    assertThat(front.isStub(front.tree().stat("step-1/x").inode())).isTrue();
    assertThat(front.isStub(front.tree().stat("step-2/x").inode())).isFalse();
  }

  private void save(String checkpoint, long modified) throws Exception {
    front.perform(() -> make(checkpoint));
    write(checkpoint + "/x", 0);
    int fd = front.tree().open(checkpoint + "/x", FileTree.O_RDWR);
    front.write(() -> checkpoint + "/x", fd, FileTree.stat(fd).inode(), memory, 1000, 0);
    LIBC.close(fd);
    front.perform(() -> new Operation.Attributes(checkpoint, -1, -1, -1, FileTree.OMIT, modified));
    persist();
  }

  /** The next daemon knew none of them: all but the next checkpoint became stubs. */
  @Test
  void keep_countsCheckpointsOfEarlierDaemons() throws Exception {
    fill();
    openAgain(3);
    save("b", 1000);
    save("a", 2000);
    save("c", 3000);

    openAgain(3);
    save("d", 4000);

    assertThat(isStub("b/x")).isTrue();
    for (String kept : List.of("a/x", "c/x", "d/x")) {
      assertThat(isStub(kept)).isFalse();
    }
  }

  private Operation make(String name) throws ErrnoException {
    Stat root = front.tree().stat("");
    return new Operation.Make(name, Stat.DIRECTORY | 0700, 0, root.uid(), root.gid(), "");
  }

  private boolean isStub(String path) throws ErrnoException {
    return front.isStub(front.tree().stat(path).inode());
  }

  /** The other name was taken for a file of zeroes, and these for what programs had written. */
  @Test
  void stubWithTwoNames_staysOne_whenTheStoreLosesTheFirst() throws Exception {
    Files.writeString(storePath.resolve("a"), "bytes");
    Files.createLink(storePath.resolve("b"), storePath.resolve("a"));
    Files.createLink(storePath.resolve("c"), storePath.resolve("a"));
    new Reconciliation(front, store).run();
    Files.delete(storePath.resolve("a"));
    Files.delete(storePath.resolve("b"));

    assertThat(new Reconciliation(front, store).run()).isEqualTo(2);

    assertThat(isStub("c")).isTrue();
    assertThat(front.tree().stat("c").links()).isEqualTo(1);
  }

  /** The store's file was cut, and zeroes were written to it. */
  @Test
  void stubWithTwoNames_thatGrewInTheStore_isTakenAgain() throws Exception {
    Path file = Files.writeString(storePath.resolve("a"), "bytes");
    Files.createLink(storePath.resolve("b"), file);
    new Reconciliation(front, store).run();
    Files.writeString(file, "more bytes");

    new Reconciliation(front, store).run();

    assertThat(front.pendingOperations()).isZero();
    assertThat(front.tree().stat("a")).isEqualTo(front.tree().stat("b"));
    assertThat(front.tree().stat("b").size()).isEqualTo(10);
    assertThat(isStub("b")).isTrue();
    assertThat(file).hasContent("more bytes");
  }

  /**
   * A process that was killed before a new stub had its mark left an empty file, which was then
   * taken for what the store had to get: the store's file was cut.
   */
  @Test
  void stub_hasNoName_beforeItIsWhole() throws Exception {
    Files.writeString(storePath.resolve("a"), "bytes");
    Stat stat = store.tree().stat("a");

    assertThatThrownBy(
            () ->
                front.addStub(
                    "a", stat, "", java.util.Map.of("system.posix_acl_access", new byte[1])))
        .isInstanceOf(ErrnoException.class);

    assertThat(front.tree().find("a")).isEmpty();
    openAgain(0); // the process is killed
    assertThat(directory.resolve("front/staged")).doesNotExist();
    assertThat(new Reconciliation(front, store).run()).isEqualTo(1);
    assertThat(front.pendingOperations()).isZero();
    assertThat(isStub("a")).isTrue();
    assertThat(storePath.resolve("a")).hasContent("bytes");
  }

  @Test
  void attributes_comeWithStubs_alsoThoseOfDirectories() throws Exception {
    Files.writeString(storePath.resolve("a"), "bytes");
    Files.createDirectory(storePath.resolve("d"));
    for (String path : new String[] {"a", "d"}) {
      store.tree().setXattr(path, "trusted.x", new byte[] {'v'}, 0);
      store.tree().setXattr(path, "trusted.holdfast.y", new byte[] {'v'}, 0);
    }

    new Reconciliation(front, store).run();

    for (String path : new String[] {"a", "d"}) {
      assertThat(front.tree().xattr(path, "trusted.x")).isEqualTo(new byte[] {'v'});
      assertThat(front.tree().xattrNames(path)).doesNotContain("trusted.holdfast.y");
    }
  }

  /** The mount was refused: the link was said to be of another type. */
  @Test
  void linkThatLeadsElsewhereInTheStore_isThatOfTheStore() throws Exception {
    Files.createSymbolicLink(storePath.resolve("latest"), Path.of("step-1"));
    new Reconciliation(front, store).run();
    Files.delete(storePath.resolve("latest"));
    Files.createSymbolicLink(storePath.resolve("latest"), Path.of("step-2"));

    assertThat(new Reconciliation(front, store).run()).isEqualTo(1);

    assertThat(front.tree().readLink("latest")).isEqualTo("step-2");
    assertThat(front.pendingOperations()).isZero();
  }

  /** They were in no list of what can make room, and stayed for ever. */
  @Test
  void bytesOfAFetchThatFailed_takeNoRoom() throws Exception {
    write("a", 1);
    persist();
    write("b", 2);
    persist();
    front.makeStubs((path, bytes) -> !path.equals("a"));
    Stat stub = front.tree().stat("b");
    int shorter = front.tree().open("a", FileTree.O_RDWR);
    long buffer = LIBC.malloc(PART);

    assertThatThrownBy(() -> front.fetch(stub.inode(), shorter, buffer, PART))
        .hasMessageContaining("shorter than was written");

    LIBC.free(buffer);
    LIBC.close(shorter);
    assertThat(front.tree().stat("b").blocks()).isEqualTo(stub.blocks());
    assertThat(front.tree().stat("b").modified()).isEqualTo(stub.modified());
    assertThat(isStub("b")).isTrue();
    Files.write(
        directory.resolve("front/tree/b"), // and a process that was killed while it fetched
        new byte[PART],
        java.nio.file.StandardOpenOption.WRITE);
    openAgain(0);
    assertThat(front.tree().stat("b").blocks()).isEqualTo(stub.blocks());
  }

  @Test
  void syncedFront_hasNoFileThatACrashCouldDamage() throws Exception {
    write("a", 1);
    write("b", 1);
    assertThat(front.unsynced()).isEqualTo(2);

    front.syncAll();

    assertThat(front.unsynced()).isZero();
    assertThat(persister.progress().persistedBytes()).isZero();
  }

  /**
   * A program truncated a file while another one's fsync was under way: the log had the bytes that
   * were synced, and no disk had the log. A crash of the machine then lost what fsync had promised.
   */
  @Test
  void bytesThatAreDestroyed_onceASyncHasBegun_areSyncedInTheLog() throws Exception {
    write("a", 1);
    Path data = directory.resolve("front/data");
    Files.move(data, directory.resolve("away"));
    assertThatThrownBy(() -> front.syncAll()).as("it has begun").isInstanceOf(ErrnoException.class);
    Files.move(directory.resolve("away"), data);
    long before = front.logSyncs();

    front.perform(() -> new Operation.Resize("a", 0));

    assertThat(front.logSyncs()).isEqualTo(before + 1);
  }

  /**
   * The disk became full between two saves, and the next attempt found only the second to save: the
   * first was in no log that a crash of the machine leaves, and the program wrote over its bytes.
   */
  @Test
  void promisedBytes_whoseSaveHasFailedHalfway_areSyncedInTheLogByTheNextAttempt()
      throws Exception {
    write("a", 0);
    int fd = front.tree().open("a", FileTree.O_RDWR);
    long inode = FileTree.stat(fd).inode();
    front.write(() -> "a", fd, inode, memory, 1000, 0);
    front.syncAll();
    front.write(() -> "a", fd, inode, memory, 1000, 1000); // behind the promise
    front.tree().resize("a", 1000);
    long before = front.logSyncs();

    assertThatThrownBy(() -> front.write(() -> "a", fd, inode, memory, 1000, 500))
        .as("the second save")
        .isInstanceOf(ErrnoException.class);
    assertThat(front.logSyncs()).isEqualTo(before);
    front.tree().resize("a", 2000);
    front.write(() -> "a", fd, inode, memory, 1000, 500);

    assertThat(front.logSyncs()).isEqualTo(before + 1);
    LIBC.close(fd);
  }

  /** A removal in the mount could make no room: it was behind the write. */
  @Test
  void storeWithoutRoom_goesOn_onceSomebodyHasMadeSomeThere() throws Exception {
    front.perform(() -> make("step-1"));
    write("step-1/x", 0);
    persist();
    FullStore full = new FullStore(store);
    Persister failing = new Persister(front, full, 0, 0, SaveMeter.ofProcess());
    write("step-2", 1);
    front.perform(() -> new Operation.Remove("step-1/x", false));
    front.perform(() -> new Operation.Remove("step-1", true));
    assertThatThrownBy(
            () -> {
              while (front.pendingOperations() > 0) {
                failing.stepNow();
              }
            })
        .isInstanceOf(ErrnoException.class);
    failing.close();
    Files.delete(storePath.resolve("step-1/x"));
    Files.delete(storePath.resolve("step-1"));

    openAgain(0);
    persist();

    assertThat(storePath.resolve("step-2")).hasSize(PART);
    assertThat(storePath.resolve("step-1")).doesNotExist();
  }

  /** A store without room for bytes. */
  private static final class FullStore extends ForwardingStore {
    FullStore(DirectoryStore store) {
      super(store);
    }

    @Override
    public void write(String path, long address, int length, long offset) throws ErrnoException {
      throw ErrnoException.of(Errno.ENOSPC, path);
    }
  }

  /**
   * DeepSpeed writes a file {@code latest} behind each checkpoint: it was the newest one, and the
   * checkpoint became stubs.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void keep_countsNoFileThatOnlyTellsTheNewestCheckpoint(boolean isRenamed) throws Exception {
    fill();
    openAgain(1);
    for (int i = 1; i <= 2; i++) {
      save("step-" + i, i * 1000L);
      writePointer(isRenamed);
      persist();
    }
    assertThat(isStub("step-1/x")).isTrue();
    assertThat(isStub("step-2/x")).isFalse();
    assertThat(isStub("latest")).isFalse();

    openAgain(1);
    writePointer(isRenamed);
    persist();
    assertThat(isStub("step-2/x")).as("the one that an earlier daemon has kept").isFalse();
    save("step-3", 3000);

    assertThat(isStub("step-2/x")).isTrue();
    assertThat(isStub("latest")).isFalse();
    write("step-4.ckpt", 1);
    persist();
    assertThat(isStub("step-3/x")).as("a large file is a checkpoint").isTrue();
  }

  private void writePointer(boolean isRenamed) throws Exception {
    String name = isRenamed ? "latest.tmp" : "latest";
    if (front.tree().find(name).isEmpty()) {
      write(name, 0);
    }
    int fd = front.tree().open(name, FileTree.O_RDWR);
    front.write(() -> name, fd, FileTree.stat(fd).inode(), memory, 10, 0);
    LIBC.close(fd);
    if (isRenamed) {
      front.perform(() -> new Operation.Rename("latest.tmp", "latest", 0));
    }
  }

  @Test
  void comparison_bringsBothToTheSameState() throws Exception {
    Files.writeString(storePath.resolve("there"), "only there");
    Files.createDirectory(storePath.resolve("d"));
    write("here", 1);
    persister.start();
    assertThat(persister.await(front.last(), LONG)).isTrue();
    Files.delete(storePath.resolve("here"));
    assertThat(new Reconciliation(front, store).run()).isEqualTo(3);
    assertThat(persister.await(front.last(), LONG)).isTrue();
    assertThat(storePath.resolve("here")).hasSize(PART);
    assertThat(front.tree().stat("there").size()).isEqualTo(10);
    assertThat(front.isStub(front.tree().stat("there").inode())).isTrue();
    assertThat(new Reconciliation(front, store).run()).isZero();
  }
}
