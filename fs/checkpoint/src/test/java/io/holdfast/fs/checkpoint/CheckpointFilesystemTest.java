package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.checkpoint.CheckpointFilesystem.Created;
import io.holdfast.fs.checkpoint.CheckpointFilesystem.FsyncPolicy;
import io.holdfast.fs.checkpoint.CheckpointFilesystem.Listed;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CheckpointFilesystemTest {
  private static final long ROOT = CheckpointFilesystem.ROOT;
  private static final int LENGTH = 1000;

  @TempDir Path directory;

  private final AtomicLong clock = new AtomicLong(1_700_000_000_000_000_000L);
  private final long memory = LIBC.malloc(LENGTH);
  private int me;
  private Front front;
  private DirectoryStore store;
  private Persister persister;
  private CheckpointFilesystem filesystem;

  @BeforeEach
  void open() throws Exception {
    Memory.clear(memory, LENGTH);
    me = (Integer) Files.getAttribute(directory, "unix:uid");
    front = new Front(directory.resolve("front"), 1 << 30, true, clock::incrementAndGet);
    store = new DirectoryStore(Files.createDirectory(directory.resolve("store")), "one", false);
    SaveMeter meter = SaveMeter.ofProcess();
    persister = new Persister(front, store, 0, 0, meter);
    filesystem = filesystem(store, meter);
  }

  private CheckpointFilesystem filesystem(Store toRead, SaveMeter meter) throws Exception {
    KernelState kernel =
        new KernelState(
            GrowingMemory.ofProcess("nodes"),
            GrowingMemory.ofProcess("handles"),
            GrowingMemory.ofProcess("requests"));
    return new CheckpointFilesystem(front, toRead, persister, FsyncPolicy.STORE, meter, kernel);
  }

  @AfterEach
  void close() {
    front.close();
    persister.close();
    front.closeFiles();
    store.close();
    LIBC.free(memory);
  }

  private Created create(String name, int flags) throws Exception {
    return filesystem.create(ROOT, name, FileTree.O_RDWR | flags, 0600, me, me);
  }

  private void persistAll() throws Exception {
    while (front.usage().pendingOperations() > 0) {
      persister.stepNow();
    }
  }

  private String durable(long node) throws Exception {
    return new String(filesystem.xattr(node, CheckpointFilesystem.DURABLE), StandardCharsets.UTF_8);
  }

  /**
   * The kernel does not check the permissions of a file that it has just created. If another
   * program was faster, it has to look the file up, and to check.
   */
  @Test
  void create_ofAFileThatAnotherProgramHasJustMade_hasTheKernelLookItUp() throws Exception {
    create("a", 0);

    assertThatThrownBy(() -> create("a", 0)).matches(e -> is(e, Errno.ESTALE));
    assertThatThrownBy(() -> create("a", FileTree.O_EXCL)).matches(e -> is(e, Errno.EEXIST));
  }

  private static boolean is(Throwable failure, Errno errno) {
    return failure instanceof ErrnoException e && e.is(errno);
  }

  @Test
  void durable_ofAFileThatChangedByAnotherName_isNotTheStore() throws Exception {
    Created created = create("a", 0);
    long node = created.found().node();
    filesystem.link(node, ROOT, "b");
    persistAll();
    assertThat(durable(node)).isEqualTo("store");

    filesystem.remove(ROOT, "a", false); // the node has the name b now, and then a again
    filesystem.link(node, ROOT, "a");
    filesystem.write(created.handle(), memory, LENGTH, 0, false);

    persister.stepNow();
    persister.stepNow();
    assertThat(front.lastOf("a")).isEqualTo(front.last());
    assertThat(front.lastOf("b")).isEqualTo(front.last());
    assertThat(durable(node)).isNotEqualTo("store");
    persistAll();
    assertThat(durable(node)).isEqualTo("store");
  }

  @Test
  void fsync_ofAFileWhoseKnownNameIsGone_waitsForItsOtherName() throws Exception {
    Created created = create("a", 0);
    long node = created.found().node();
    Files.createLink(
        directory.resolve("front/tree/b"), directory.resolve("front/tree/a")); // not looked up
    filesystem.remove(ROOT, "a", false);
    filesystem.write(created.handle(), memory, LENGTH, 0, false);

    persister.start();
    CompletableFuture<Optional<ErrnoException>> ended = new CompletableFuture<>();
    StoreWaits.Wait unused =
        filesystem.await(
            filesystem.sync(node, created.handle()).getAsLong(),
            failure -> ended.complete(Optional.ofNullable(failure)));
    assertThat(ended.get(30, TimeUnit.SECONDS))
        .as("the store has no such name, which is seen by waiting for it")
        .isPresent();
  }

  /** It was logged, and nothing of any program came to the store any more. */
  @Test
  void nameThatTheStoreRefuses_isRefusedAtOnce_andWhatComesBehindArrives() throws Exception {
    NameLimits limits = new NameLimits(255, false, true, false, false, true, true);
    filesystem =
        filesystem(
            new ForwardingStore(store) {
              @Override
              public NameLimits nameLimits() {
                return limits;
              }
            },
            SaveMeter.ofProcess());
    long dir = filesystem.make(ROOT, "d", Stat.DIRECTORY | 0700, 0, me, me, "").node();
    long file = filesystem.make(dir, "a", Stat.REGULAR | 0600, 0, me, me, "").node();

    assertThatThrownBy(() -> create("\u00ff", 0)).matches(e -> is(e, Errno.EILSEQ));
    assertThatThrownBy(() -> filesystem.make(ROOT, "p", 0010600, 0, me, me, ""))
        .matches(e -> is(e, Errno.EOPNOTSUPP));
    assertThatThrownBy(() -> filesystem.link(file, ROOT, "D")).matches(e -> is(e, Errno.EEXIST));
    assertThatThrownBy(() -> filesystem.rename(dir, "a", ROOT, "D", 0))
        .matches(e -> is(e, Errno.EEXIST));
    filesystem.rename(dir, "a", ROOT, "b", 0);

    persistAll();
    assertThat(store.list("")).extracting(FileTree.Entry::name).contains("b", "d");
  }

  @Test
  void namesOfTheStoresOwn_areRefused() {
    for (String name : new String[] {Store.OWNER, Store.LAST, FileTree.PROBE + ".name:"}) {
      assertThatThrownBy(() -> create(name, 0)).matches(e -> is(e, Errno.EPERM));
    }
  }

  private void becomeSmall() throws Exception {
    front.close();
    front.closeFiles();
    persister.close();
    front = new Front(directory.resolve("small"), 3L * LENGTH, true, clock::incrementAndGet);
    SaveMeter meter = SaveMeter.ofProcess();
    persister = new Persister(front, store, 0, 0, meter);
    filesystem = filesystem(store, meter);
  }

  /** By its name of before, the hole would be in another file, which has that name now. */
  @Test
  void range_thatIsPunchedOnceThereIsRoom_isThatOfTheOpenFile() throws Exception {
    becomeSmall();
    Created created = create("a", 0);
    for (int i = 0; i < LENGTH; i++) {
      Memory.putByte(memory + i, 1);
    }
    filesystem.write(created.handle(), memory, LENGTH, 0, false);
    filesystem.write(created.handle(), memory, LENGTH, LENGTH, false);
    int hole = Operation.Allocate.PUNCH_HOLE | Operation.Allocate.KEEP_SIZE;

    CompletableFuture<Void> punched =
        CompletableFuture.runAsync(
            () -> {
              try {
                filesystem.allocate(created.handle(), hole, 0, 2L * LENGTH);
              } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    while (front.usage().waiting() == 0) {
      front.awaitChange(TimeUnit.MILLISECONDS.toNanos(1));
      assertThat(punched.isDone()).isFalse();
    }
    filesystem.rename(ROOT, "a", ROOT, "b", 0);
    create("a", 0);
    persister.start();
    punched.get();

    assertThat(persister.await(front.last(), TimeUnit.SECONDS.toNanos(30))).isTrue();
    assertThat(directory.resolve("store/b")).hasBinaryContent(new byte[2 * LENGTH]);
    assertThat(directory.resolve("store/a")).isEmptyFile();
  }

  /** The command that waits for a mistyped path must not say that the store has it. */
  @Test
  void path_isKnown_asLongAsItsRemovalIsPending() throws Exception {
    create("a", 0);
    persistAll();
    filesystem.make(ROOT, "other", Stat.DIRECTORY | 0700, 0, me, me, "");
    assertThat(front.isKnown("a")).isTrue();
    assertThat(front.isKnown("b")).isFalse();
    assertThat(front.isKnown("")).isTrue();

    filesystem.remove(ROOT, "a", false);

    assertThat(front.isKnown("a")).isTrue();
    persistAll();
    assertThat(front.isKnown("a")).isFalse();
  }

  /**
   * The command waited for the symlink alone, which had long been in the store: it said that a
   * checkpoint was durable of which the store had nothing.
   */
  @Test
  void path_isFollowed_throughSymlinksOfTheMount() throws Exception {
    filesystem.make(ROOT, "run", Stat.DIRECTORY | 0700, 0, me, me, "");
    Created created =
        filesystem.create(
            filesystem.lookup(ROOT, "run").node(), "model", FileTree.O_RDWR, 0600, me, me);
    link("latest", "./run/../run/");
    link("same", "/ckpt/latest");
    link("endless", "endless");
    link("out", "/elsewhere");
    link("above", "../x");
    link("near", "/ckpt2/run");
    persistAll();
    filesystem.write(created.handle(), memory, LENGTH, 0, false);

    assertThat(followed("same/model")).containsExactly("same", "latest", "run/model");
    assertThat(followed("same")).containsExactly("same", "latest", "run");
    assertThat(followed("")).containsExactly("");
    assertThat(followed("none/below")).containsExactly("none/below");
    assertThat(front.lastOf("same")).as("in the store").isLessThan(front.last());
    assertThat(front.lastOf("run")).isEqualTo(front.last());
    for (String path : List.of("out/a", "above", "near")) {
      assertThatThrownBy(() -> followed(path))
          .matches(e -> is(e, Errno.EXDEV))
          .hasMessageContaining(": the symlink leads out of the mount: ");
    }
    assertThatThrownBy(() -> followed("endless")).matches(e -> is(e, Errno.ELOOP));
  }

  private void link(String name, String target) throws Exception {
    filesystem.make(ROOT, name, Stat.SYMLINK | 0777, 0, me, me, target);
  }

  private List<String> followed(String path) throws Exception {
    return FollowedPath.of(front, "/ckpt", path);
  }

  /** It got the bytes of the file that had its name by then. */
  @Test
  void fileThatGetsAnotherName_whileItsReaderWaitsForTheStore_isTheOneThatIsRead()
      throws Exception {
    Created created = create("a", 0);
    Memory.putByte(memory, 1);
    filesystem.write(created.handle(), memory, LENGTH, 0, false);
    filesystem.release(created.handle());
    persistAll();
    front.makeStubs((path, bytes) -> true);
    long node = created.found().node();
    filesystem.change(node, new Change(0640, -1, -1, -1, FileTree.OMIT, FileTree.OMIT), false);
    long[] handle = new long[1];
    FutureTask<Void> reader =
        new FutureTask<>(
            () -> {
              handle[0] = filesystem.open(node, 0);
              return null;
            });
    Thread thread = new Thread(reader);
    thread.start();
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }

    front.lock().lock(); // the reader goes on only when the store has all of it
    try {
      filesystem.rename(ROOT, "a", ROOT, "b", 0);
      Created other = create("a", 0);
      Memory.putByte(memory, 2);
      filesystem.write(other.handle(), memory, LENGTH, 0, false);
      persistAll();
    } finally {
      front.lock().unlock();
    }

    reader.get();
    assertThat(filesystem.read(handle[0], memory, LENGTH, 0)).isEqualTo(LENGTH);
    assertThat(Memory.getByte(memory)).isEqualTo(1);
    filesystem.release(handle[0]);
  }

  /** A store for whose first readers the owner of the file changes on the way. */
  private final class GivingStore extends ForwardingStore {
    private final int times;
    private int opened;

    GivingStore(int times) {
      super(store);
      this.times = times;
    }

    @Override
    public int openToRead(String path, Stat expected) throws ErrnoException {
      if (opened++ < times) {
        int uid = 999 + opened;
        try {
          front.perform(
              () -> new Operation.Attributes(path, -1, uid, -1, FileTree.OMIT, FileTree.OMIT));
          persistAll();
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      }
      return super.openToRead(path, expected);
    }
  }

  /** The store's file was compared with the owner of before, and the reader got EIO. */
  @Test
  void fileThatGetsAnotherOwner_whileItIsOpenedAtTheStore_isRead() throws Exception {
    assumeTrue(me == 0, "only root gives files away");
    makeStub();
    filesystem = filesystem(new GivingStore(1), SaveMeter.ofProcess());

    long handle = filesystem.open(filesystem.lookup(ROOT, "a").node(), 0);

    assertThat(filesystem.read(handle, memory, LENGTH, 0)).isEqualTo(LENGTH);
    assertThat(store.stat("a").uid()).isEqualTo(1000);
    filesystem.release(handle);
  }

  private void makeStub() throws Exception {
    Created created = create("a", 0);
    filesystem.write(created.handle(), memory, LENGTH, 0, false);
    filesystem.release(created.handle());
    persistAll();
    front.makeStubs((path, bytes) -> true);
  }

  /** A program that changes it all the time filled the stack of the reader's thread. */
  @Test
  void fileThatGetsOtherOwnersAllTheTime_failsAtLast() throws Exception {
    assumeTrue(me == 0, "only root gives files away");
    makeStub();
    GivingStore giving = new GivingStore(Integer.MAX_VALUE);
    filesystem = filesystem(giving, SaveMeter.ofProcess());
    long node = filesystem.lookup(ROOT, "a").node();

    assertThatThrownBy(() -> filesystem.open(node, 0)).matches(e -> is(e, Errno.EIO));

    assertThat(giving.opened).isEqualTo(16);
  }

  /** {@code tar --sparse} archived zeroes in its place: a file without blocks is a hole to it. */
  @Test
  void stub_hasTheBlocksOfItsBytes() throws Exception {
    Created created = create("a", 0);
    filesystem.write(created.handle(), memory, LENGTH, 0, false);
    filesystem.release(created.handle());
    persistAll();

    front.makeStubs((path, bytes) -> true);

    assertThat(filesystem.attributes(created.found().node()).blocks()).isEqualTo(2);
    long empty = create("empty", 0).found().node();
    assertThat(filesystem.attributes(empty).blocks()).isZero();
  }

  /** A store whose server does not answer when files are closed. */
  private static final class SilentStore extends ForwardingStore {
    final CountDownLatch closing = new CountDownLatch(1);
    final CountDownLatch answers = new CountDownLatch(1);

    SilentStore(DirectoryStore store) {
      super(store);
    }

    @Override
    public void closeAfterReading(int descriptor) {
      closing.countDown();
      try {
        answers.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      super.closeAfterReading(descriptor);
    }
  }

  /**
   * A file on NFS is closed only when the server has answered. Every program waited for that, and
   * so did the daemon's end.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void fileThatTheStoreIsLongToClose_keepsNobodyFromWriting(boolean isFetched) throws Exception {
    Created created = create("a", 0);
    filesystem.write(created.handle(), memory, LENGTH, 0, false);
    filesystem.release(created.handle());
    persistAll();
    front.makeStubs((path, bytes) -> true);
    SilentStore silent = new SilentStore(store);
    filesystem = filesystem(silent, SaveMeter.ofProcess());
    long a = filesystem.lookup(ROOT, "a").node();
    long handle = filesystem.open(a, 0);
    Created other = create("b", 0);

    CompletableFuture<Void> closed =
        CompletableFuture.runAsync(
            () -> {
              try {
                if (isFetched) {
                  filesystem.change(
                      a, new Change(-1, -1, -1, 1, FileTree.OMIT, FileTree.OMIT), false);
                }
                filesystem.release(handle);
              } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    silent.closing.await();

    assertThat(front.lock().isLocked()).isFalse();
    assertThat(filesystem.write(other.handle(), memory, LENGTH, 0, false)).isEqualTo(LENGTH);
    assertThat(closed.isDone()).isFalse();
    silent.answers.countDown();
    closed.get();
    filesystem.release(other.handle());
  }

  /** The fetch wrote the file's old bytes behind its new end. */
  @Test
  void fileThatIsTruncated_isNotFetchedMeanwhile() throws Exception {
    becomeSmall();
    Created created = create("a", 0);
    filesystem.write(created.handle(), memory, LENGTH, 0, false);
    filesystem.release(created.handle());
    persistAll();
    front.makeStubs((path, bytes) -> true);
    long a = created.found().node();
    final long reader = filesystem.open(a, 0);
    final Created other = create("b", 0);
    filesystem.write(other.handle(), memory, LENGTH, 0, false);

    FutureTask<Stat> truncation =
        new FutureTask<>(
            () ->
                filesystem.change(
                    a, new Change(-1, -1, -1, 1, FileTree.OMIT, FileTree.OMIT), false));
    new Thread(truncation).start();
    while (front.usage().waiting() == 0) { // for room: the file is open, and stays
      front.awaitChange(TimeUnit.MILLISECONDS.toNanos(1));
      assertThat(truncation.isDone()).isFalse();
    }
    filesystem.release(reader);
    front.makeStubs((path, bytes) -> true);
    assertThat(front.isStub(front.tree().stat("a").inode())).isTrue();
    FutureTask<Long> writer = new FutureTask<>(() -> filesystem.open(a, FileTree.O_RDWR));
    new Thread(writer).start();

    assertThatThrownBy(() -> writer.get(300, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    persister.start();
    assertThat(truncation.get().size()).isEqualTo(1);
    filesystem.release(writer.get());
    assertThat(front.tree().stat("a").size()).isEqualTo(1);
    assertThat(persister.await(front.last(), TimeUnit.SECONDS.toNanos(30))).isTrue();
    assertThat(directory.resolve("store/a")).hasSize(1);
  }

  /** A store may have left an attribute out that is to be replaced. */
  @Test
  void attribute_isCreatedOrReplaced_asTheProgramWants_andTheStoreIsNotAskedWhetherItIsThere()
      throws Exception {
    long node = create("a", 0).found().node();
    byte[] value = {'v'};

    assertThatThrownBy(() -> filesystem.setXattr(node, "trusted.x", value, 2))
        .matches(e -> is(e, Errno.ENODATA));
    filesystem.setXattr(node, "trusted.x", value, 1);
    assertThatThrownBy(() -> filesystem.setXattr(node, "trusted.x", value, 1))
        .matches(e -> is(e, Errno.EEXIST));
    persistAll();
    store.tree().removeXattr("a", "trusted.x");
    filesystem.setXattr(node, "trusted.x", value, 2);
    persistAll();
    assertThat(store.tree().xattr("a", "trusted.x")).isEqualTo(value);
  }

  /** Operations that are pending take a bounded part of the daemon's memory. */
  @Test
  void weightOfAnOperation_includesItsTexts() {
    String text = "x".repeat(4000);

    assertThat(new Operation.Make("a", Stat.SYMLINK | 0777, 0, me, me, text).weight())
        .isGreaterThan(4000);
    assertThat(new Operation.SetXattr("a", "user.x", text, 0).weight()).isGreaterThan(4000);
  }

  /** One user who had many directories open kept everybody else from listing one. */
  @Test
  void listing_isKeptByTheReadersOfNow_andOthersGoOnWhereTheyWere() throws Exception {
    for (String name : List.of("a", "b", "c")) {
      filesystem.release(create(name, 0).handle());
    }
    filesystem.keepAtMost(8);
    long first = filesystem.openDirectory(ROOT);
    List<Listed> all = filesystem.list(first, 0);
    assertThat(all).hasSize(5);

    for (int i = 0; i < 3; i++) {
      assertThat(filesystem.list(filesystem.openDirectory(ROOT), 0)).isEqualTo(all);
      assertThat(filesystem.keptEntries()).isEqualTo(5);
    }
    assertThat(filesystem.list(first, all.get(2).offset())).isEqualTo(all.subList(3, 5));
    filesystem.release(first);
    assertThat(filesystem.keptEntries()).isZero();
  }

  @Test
  void pathThatIsTooDeep_isRefused() throws Exception {
    long parent = ROOT;
    for (int i = 0; i < 255; i++) {
      parent = filesystem.make(parent, "d", Stat.DIRECTORY | 0700, 0, me, me, "").node();
    }
    long deep = filesystem.make(parent, "d", Stat.DIRECTORY | 0700, 0, me, me, "").node();

    assertThatThrownBy(() -> filesystem.make(deep, "d", Stat.REGULAR | 0600, 0, me, me, ""))
        .matches(e -> is(e, Errno.ENAMETOOLONG));
    assertThatThrownBy(() -> filesystem.lookup(deep, "d")).matches(e -> is(e, Errno.ENAMETOOLONG));
  }

  /** Makes directories, each in the one before, and returns the node of the last. */
  private long chain(String name, int depth) throws Exception {
    long last = filesystem.make(ROOT, name, Stat.DIRECTORY | 0700, 0, me, me, "").node();
    for (int i = 1; i < depth; i++) {
      last = filesystem.make(last, "d", Stat.DIRECTORY | 0700, 0, me, me, "").node();
    }
    return last;
  }

  /** Only the directory's own path was looked at, and not those of the names that moved with it. */
  @Test
  void rename_thatMovesANameTooDeep_isRefused() throws Exception {
    long parent = chain("a", 200);
    chain("b", 150);
    filesystem.make(parent, "c", Stat.DIRECTORY | 0700, 0, me, me, "");
    long last = front.last();

    assertThatThrownBy(() -> filesystem.rename(ROOT, "b", parent, "c", 0))
        .matches(e -> is(e, Errno.ENAMETOOLONG));
    for (int i = 0; i < 2; i++) {
      long from = i == 0 ? ROOT : parent;
      String name = i == 0 ? "b" : "c";
      long to = i == 0 ? parent : ROOT;
      String toName = i == 0 ? "c" : "b";
      assertThatThrownBy(() -> filesystem.rename(from, name, to, toName, Operation.Rename.EXCHANGE))
          .matches(e -> is(e, Errno.ENAMETOOLONG));
    }
    assertThat(front.last()).isEqualTo(last);
    filesystem.rename(ROOT, "b", ROOT, "a longer name", 0);
  }

  /** The store would refuse them for ever, and all that comes behind them would wait. */
  @Test
  void linksThatTheStoreCannotHave_areRefused() throws Exception {
    String longest = "a".repeat(store.longestTarget());
    filesystem.make(ROOT, "longest", Stat.SYMLINK | 0777, 0, me, me, longest);
    assertThatThrownBy(
            () -> filesystem.make(ROOT, "l", Stat.SYMLINK | 0777, 0, me, me, longest + "a"))
        .matches(e -> is(e, Errno.ENAMETOOLONG) || is(e, Errno.EINVAL));
    persistAll();
    long node = create("a", 0).found().node();
    for (int i = 1; i < 40; i++) {
      filesystem.link(node, ROOT, "b" + i);
    }
    assertThat(store.mostLinks()).as("of ext3").isEqualTo(32_000);
    persistAll();
  }

  /** Any user could fill the node's disk with one. */
  @Test
  void filesWithoutNames_takeNoMoreThanTheCapacity() throws Exception {
    becomeSmall();
    persister.start();
    for (int i = 0; i < 2; i++) {
      Created created = create("a", 0);
      filesystem.remove(ROOT, "a", false);
      filesystem.write(created.handle(), memory, LENGTH, 0, false);

      assertThatThrownBy(() -> filesystem.write(created.handle(), memory, LENGTH, 1 << 20, false))
          .matches(e -> is(e, Errno.ENOSPC));

      long before = front.usage().bytes();
      filesystem.release(created.handle());
      assertThat(front.usage().bytes()).isLessThanOrEqualTo(before - LENGTH);
    }
  }

  @Test
  void file_thatIsOpenWithoutAName_isResizedByAHandleThatMayWrite() throws Exception {
    Created created = create("a", 0);
    filesystem.write(created.handle(), memory, LENGTH, 0, false);
    long node = created.found().node();
    long reader = filesystem.open(node, 0);
    long writer = filesystem.open(node, FileTree.O_RDWR);
    filesystem.release(created.handle());
    filesystem.remove(ROOT, "a", false);

    filesystem.change(node, new Change(-1, -1, -1, 5, FileTree.OMIT, FileTree.OMIT), false);

    assertThat(filesystem.attributes(node).size()).isEqualTo(5);
    filesystem.release(reader);
    filesystem.release(writer);
  }
}
