package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.checkpoint.daemon.OpenedFront;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import jnr.constants.platform.Errno;
import org.apache.commons.io.FileUtils;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Holds for each store, as the persister fills it and as it is read. */
@Timeout(60)
abstract class StoreContract {
  private static final int PART = 1000;

  @TempDir Path directory;

  final int me = Procfs.ownUid();
  private final long memory = LIBC.malloc(PART);
  private final AtomicLong clock = new AtomicLong(1_700_000_000_000_000_000L);
  private Front front;
  private Persister persister;
  private Store store;
  private @Nullable OpenedFront opened;

  /**
   * Opens the store that this test has.
   *
   * @param fronts a directory for the front of this owner
   * @param isHeld whether the front has operations that the store lacks
   */
  abstract Store open(String owner, Path fronts, boolean isHeld) throws IOException;

  private Store open(String owner, Path fronts) throws IOException {
    return open(owner, fronts, false);
  }

  @BeforeEach
  void begin() throws Exception {
    front = new Front(directory.resolve("front"), 1 << 30, true, clock::incrementAndGet);
    store = open("one", directory.resolve("front"));
    persister = new Persister(front, store, 0, 0, SaveMeter.ofProcess());
  }

  @AfterEach
  void end() {
    front.close();
    front.closeFiles();
    store.close();
    if (opened != null) {
      opened.close();
    }
    LIBC.free(memory);
  }

  final Store store() {
    return store;
  }

  final Front front() {
    return front;
  }

  /** Another process uses the same store from now on, with the same front. */
  final void reopen() throws Exception {
    front.closeFiles();
    store.close();
    begin();
  }

  /** Opens a front and compares it with the store, as a daemon does at its start. */
  private void start(String name, boolean goesOn) throws IOException {
    Path fronts = directory.resolve(name);
    opened =
        new OpenedFront(
            fronts, 1 << 30, "store", (owner, isHeld) -> open(owner, fronts, isHeld), goesOn);
    front = opened.front();
    store = opened.store();
    persister = new Persister(front, store, 0, 0, SaveMeter.ofProcess());
    if (!goesOn && front.pendingOperations() == 0) {
      new Reconciliation(front, store).run();
    }
  }

  private void start(String name) throws IOException {
    start(name, false);
  }

  /** Ends the use of the front and its store, as a daemon does that was told to end. */
  private void stop() {
    store.release(front.pendingOperations() == 0);
    kill();
  }

  /** Ends the use of the front and its store, as a daemon does that is killed. */
  private void kill() {
    front.close();
    front.closeFiles();
    store.close();
    if (opened != null) {
      opened.close();
      opened = null;
    }
  }

  final void perform(Operation... operations) throws Exception {
    for (Operation operation : operations) {
      front.perform(() -> operation);
    }
  }

  final void make(String path, int mode) throws Exception {
    perform(new Operation.Make(path, mode, 0, me, me, ""));
  }

  /** Writes a part of a file that is there. */
  final void write(String path, int value, long offset) throws Exception {
    for (int i = 0; i < PART; i++) {
      Memory.putByte(memory + i, value);
    }
    int fd = front.tree().open(path, FileTree.O_RDWR);
    long inode = FileTree.stat(fd).inode();
    assertThat(front.write(() -> path, fd, inode, memory, PART, offset)).isEqualTo(PART);
    LIBC.close(fd);
  }

  /** Writes a file of these bytes, which is there or not. */
  private void save(String path, String text) throws Exception {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (front.tree().find(path).isEmpty()) {
      make(path, Stat.REGULAR | 0600);
    } else {
      perform(new Operation.Resize(path, 0));
    }
    Memory.put(memory, bytes, 0, bytes.length);
    int fd = front.tree().open(path, FileTree.O_RDWR);
    long inode = FileTree.stat(fd).inode();
    int written = front.write(() -> path, fd, inode, memory, bytes.length, 0);
    LIBC.close(fd);
    assertThat(written).isEqualTo(bytes.length);
  }

  private boolean isStub(String path) throws IOException {
    return front.isStub(front.stat(path).inode());
  }

  /** Reads a file as a program does. */
  private String read(String path) throws IOException {
    Stat stat = front.stat(path);
    if (front.isStub(stat.inode())) {
      int from = store.openToRead(path, stat);
      front.fetch(stat.inode(), from, memory, PART);
      LIBC.close(from);
    }
    int fd = front.tree().open(path, Linux.O_RDONLY);
    int length = (int) front.stat(path).size();
    FileTree.readFully(fd, memory, length, 0, path);
    LIBC.close(fd);
    return new String(Memory.bytes(memory, length), StandardCharsets.UTF_8);
  }

  final void persist() throws Exception {
    while (front.pendingOperations() > 0) {
      persister.stepNow();
    }
  }

  /** Persists, and compares what the store has with what programs see. */
  final void assertSame() throws Exception {
    persist();
    assertThat(Picture.of(store)).isEqualTo(Picture.of(front));
  }

  @Test
  void allKindsOfFilesAndChanges_areInTheStore_asProgramsSeeThem() throws Exception {
    make("d", Stat.DIRECTORY | 0750);
    make("d/a", Stat.REGULAR | 0640);
    write("d/a", 1, 0);
    write("d/a", 2, 5000);
    make("empty", Stat.REGULAR | 0600);
    make("pipe", 0010000 | 0600);
    perform(
        new Operation.Make("link", Stat.SYMLINK | 0777, 0, me, me, "d/a"),
        new Operation.Link("d/a", "other"),
        new Operation.SetXattr("d/a", "user.x", "value", 0),
        new Operation.SetXattr("d/a", "user.y", "value", 0),
        new Operation.RemoveXattr("d/a", "user.y"));
    assertSame();

    write("other", 3, 100);
    perform(
        new Operation.Rename("d", "e", 0),
        new Operation.Rename("empty", "link", Operation.Rename.EXCHANGE),
        new Operation.Attributes("e/a", 0600, -1, -1, FileTree.OMIT, 7),
        new Operation.Allocate("e/a", 3, 0, 4096),
        new Operation.Resize("link", 3000));
    assertSame();

    perform(
        new Operation.Remove("other", false),
        new Operation.Remove("pipe", false),
        new Operation.Resize("e/a", 0),
        new Operation.Rename("e/a", "link", 0));
    assertSame();
    assertThat(store.stat("link").links()).isEqualTo(1);

    perform(new Operation.Attributes("link", 0640, me, me, 5, 7));
    assertSame();
    assertThat(store.stat("link").modified()).isEqualTo(7);
  }

  @Test
  void namesOfAnyBytes_andLongPaths_areKept() throws Exception {
    for (String name : new String[] {"50% #?&+", "a\nb\u0001", "\u00ff\u00fe", "\u00c3\u00a4"}) {
      make(name, Stat.REGULAR | 0600);
      write(name, 4, 0);
    }
    String deep = "x".repeat(250);
    make(deep, Stat.DIRECTORY | 0700);
    for (int i = 0; i < 4; i++) {
      deep = deep + "/" + "y".repeat(250);
      make(deep, Stat.DIRECTORY | 0700);
    }
    make(deep + "/file", Stat.REGULAR | 0600);
    write(deep + "/file", 5, 0);
    assertSame();

    perform(new Operation.Rename("x".repeat(250), "short", 0));
    assertSame();
  }

  @Test
  void nextProcess_findsWhatTheLastOneHasLeft() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    persist();

    reopen();

    assertThat(Picture.of(store)).isEqualTo(Picture.of(front));
    write("a", 2, 10);
    assertSame();
  }

  @Test
  void anotherFront_getsStubs_ofEverything() throws Exception {
    make("d", Stat.DIRECTORY | 0750);
    make("d/a", Stat.REGULAR | 0640);
    write("d/a", 1, 0);
    perform(
        new Operation.Link("d/a", "other"),
        new Operation.Make("link", Stat.SYMLINK | 0777, 0, me, me, "d/a"),
        new Operation.SetXattr("d/a", "user.x", "value", 0));
    persist();
    var expected = Picture.of(front);
    store.release(true);
    store.close();
    Path fresh = directory.resolve("fresh");
    try (Front other = new Front(fresh, 1 << 30, true, clock::incrementAndGet)) {
      store = open("two", fresh);

      int differences = new Reconciliation(other, store).run();

      assertThat(differences).isEqualTo(3);
      Stat stub = other.stat("other");
      assertThat(other.isStub(stub.inode())).isTrue();
      assertThat(stub.links()).isEqualTo(2);
      int from = store.openToRead("other", stub);
      other.fetch(stub.inode(), from, memory, PART);
      LIBC.close(from);
      assertThat(Picture.of(other)).isEqualTo(expected);
      assertThat(new Reconciliation(other, store).run()).isZero();
      other.closeFiles();
    }
  }

  @Test
  void secondOwner_isRefused_andTold_untilTheStoreIsReleased() throws Exception {
    assertThatThrownBy(() -> open("two\n", directory.resolve("second")))
        .isInstanceOf(ErrnoException.class)
        .hasMessageContaining("is written by one; if that is gone for good")
        .matches(e -> ((ErrnoException) e).is(Errno.EBUSY));
    make("a", Stat.REGULAR | 0600);
    assertSame();

    store.release(false);
    assertThatThrownBy(() -> open("two", directory.resolve("second")))
        .isInstanceOf(ErrnoException.class);
    store.release(true);

    open("two", directory.resolve("second")).close();
    assertThatThrownBy(store::checkOwner)
        .hasMessageContaining("another node has taken the store")
        .matches(e -> ((ErrnoException) e).is(Errno.EBUSY));
  }

  /** The operations were for another store, and went to the one that an earlier mount had left. */
  @Test
  void storeOfAnEarlierMount_isRefused_whileTheFrontHasOperations() throws Exception {
    store.release(true);
    store.close();
    Path fronts = directory.resolve("other");
    String first = "front\nmount 1\n";
    String second = "front\nmount 2\n";
    open(first, fronts).close(); // a process that was killed

    assertThatThrownBy(() -> open(second, fronts, true))
        .hasMessageContaining("is of an earlier mount with this front, which has changes for")
        .matches(e -> ((ErrnoException) e).is(Errno.EBUSY));
    open(first, fronts, true).close();

    open(second, fronts).close(); // nothing is pending any more
    assertThatThrownBy(() -> open(first, fronts, true))
        .hasMessageContaining("is of an earlier mount");
    store = open(second, fronts, true);
    store.checkOwner();
    assertThatThrownBy(() -> open("other\nmount 2\n", directory.resolve("second")))
        .hasMessageContaining("is written by front; if that is gone for good");
  }

  /**
   * The disk of a front was not mounted: an empty one at the same place took the store, and the
   * first was refused when its disk was back.
   */
  @Test
  void anotherFront_atThePlaceOfTheOneThatHasTheStore_isRefused() throws Exception {
    store.release(true);
    store.close();
    Path fronts = directory.resolve("other");
    String mount = "\nmount 1\n";
    String first = Store.front("node a (1), front /f", new UUID(1, 1)) + mount;
    String second = Store.front("node a (1), front /f", new UUID(2, 2)) + mount;
    open(first, fronts).close(); // a process that was killed

    assertThatThrownBy(() -> open(second, fronts))
        .hasMessageContaining("is written by node a (1), front /f (00000000-0000-0001-")
        .hasMessageContaining(", and another front is at its place now: if its file system is not")
        .matches(e -> ((ErrnoException) e).is(Errno.EBUSY));
    assertThatThrownBy(() -> open(Store.front("node b", new UUID(2, 2)) + mount, fronts))
        .hasMessageContaining("-0001-0000-000000000001); if that is gone for good");

    store = open(first, fronts);
    store.checkOwner();
  }

  /** Its machine has lost it, as everybody was told at the mount. */
  @Test
  void anotherFront_atThePlaceOfOneInMemory_hasTheStore_unlessItHasOperations() throws Exception {
    store.release(true);
    store.close();
    Path fronts = directory.resolve("other");
    String place = "node a (1), front /dev/shm/f" + Store.IN_MEMORY;
    String mount = "\nmount 1\n";
    String first = Store.front(place, new UUID(1, 1)) + mount;
    String second = Store.front(place, new UUID(2, 2)) + mount;
    open(first, fronts).close(); // a machine that has crashed

    assertThatThrownBy(() -> open(second, fronts, true)).hasMessageContaining("is written by");

    store = open(second, fronts);
    store.checkOwner();
  }

  @Test
  void frontThatIsMadeAnew_isAnotherOne() throws Exception {
    releaseAll();
    String before = "";
    for (int i = 0; i < 2; i++) {
      start("first");
      Path fronts = directory.resolve("first");
      String owner = Files.readString(fronts.resolve("owner"));
      assertThat(Store.frontOf(owner))
          .contains("front " + fronts)
          .isNotEqualTo(Store.frontOf(before));
      before = owner;
      stop();
      FileUtils.deleteDirectory(fronts.toFile());
    }
  }

  @Test
  void storeThatAnotherNodeHasTaken_isLeftAlone() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    persist();
    store.release(true);
    try (Store other = open("two", directory.resolve("second"))) {
      write("a", 2, 0);

      assertThatThrownBy(this::persist)
          .hasMessageContaining("another node has taken the store")
          .matches(e -> ((ErrnoException) e).is(Errno.EBUSY));

      other.checkOwner();
      assertThat(other.stat("a").size()).isEqualTo(PART);
    }
  }

  @Test
  void anotherFile_inThePlaceOfTheOneToRead_isNotOpened() throws Exception {
    make("a", Stat.REGULAR | 0600);
    write("a", 1, 0);
    make("p", 0010000 | 0600);
    persist();
    Stat expected = store.stat("a");
    LIBC.close(store.openToRead("a", expected));

    write("a", 1, PART);
    persist();

    assertThatThrownBy(() -> store.openToRead("a", expected))
        .hasMessage("a: the store has another file in its place, of another size or owner");
    assertThatThrownBy(() -> store.openToRead("p", store.stat("p")))
        .hasMessage("p: is no regular file any more");
    assertThatThrownBy(() -> store.openToRead("missing", expected))
        .isInstanceOf(ErrnoException.class);
  }

  @Test
  void whatIsMissing_isSaidToBe() throws Exception {
    make("a", Stat.REGULAR | 0600);
    persist();

    assertThatThrownBy(() -> store.stat("b")).matches(e -> ((ErrnoException) e).is(Errno.ENOENT));
    assertThatThrownBy(() -> store.list("a")).matches(e -> ((ErrnoException) e).is(Errno.ENOTDIR));
    assertThatThrownBy(() -> store.readLink("a"))
        .matches(e -> ((ErrnoException) e).is(Errno.EINVAL));
    assertThatThrownBy(() -> store.xattr("a", "user.x"))
        .matches(e -> ((ErrnoException) e).is(Errno.ENODATA));
    assertThat(store.xattrNames("a").stream().filter(name -> name.startsWith("user."))).isEmpty();
  }

  @Test
  void bitsThatGiveAwayAnOwnersRights_areNotKeptOfFiles_butOfDirectories() throws Exception {
    make("a", Stat.REGULAR | 06755);
    make("d", Stat.DIRECTORY | 02770);
    persist();
    assertThat(store.stat("a").mode()).isEqualTo(Stat.REGULAR | 0755);
    assertThat(store.stat("d").mode()).isEqualTo(Stat.DIRECTORY | 02770);

    perform(new Operation.Attributes("a", 04711, -1, -1, FileTree.OMIT, FileTree.OMIT));
    persist();

    assertThat(store.stat("a").mode()).isEqualTo(Stat.REGULAR | 0711);
  }

  @Test
  void targetOfASymlink_ofAnyBytes_isKept() throws Exception {
    String target = FileTree.bytesAsText("ä/ö".getBytes(StandardCharsets.UTF_8)) + "\u00ff";
    perform(new Operation.Make("link", Stat.SYMLINK | 0777, 0, me, me, target));
    persist();

    assertThat(store.readLink("link")).isEqualTo(target);
  }

  /** Ends the use of the front that each test begins with. */
  private void releaseAll() {
    store.release(true);
    kill();
  }

  /**
   * A node wrote its old files over those that another one had written while it was away: names
   * came back, and a marker of the same size stayed as the node had it.
   */
  @Test
  void frontThatComesBack_afterAnotherMount_hasTheStoresFiles() throws Exception {
    releaseAll();
    start("first");
    save("a", "1".repeat(100));
    save("b", "b");
    save("c", "900");
    persist();
    stop();
    start("second");
    save("a", "2".repeat(200));
    perform(new Operation.Remove("b", false));
    save("c", "901");
    persist();
    var expected = Picture.of(store);
    stop();

    start("first");

    assertThat(front.pendingOperations()).isZero();
    persist();
    assertThat(Picture.of(store)).isEqualTo(expected);
    assertThat(read("a")).isEqualTo("2".repeat(200));
    assertThat(front.tree().find("b")).isEmpty();
    assertThat(read("c")).isEqualTo("901");
    save("c", "902");
    assertSame();
  }

  /** It reads fast what it has saved, and nothing is fetched. */
  @Test
  void frontThatComesBack_afterNobodyElse_hasItsFilesStill() throws Exception {
    releaseAll();
    start("first");
    save("a", "1");
    persist();
    for (int i = 0; i < 2; i++) {
      stop();
      start("first");
      assertThat(isStub("a")).isFalse();
    }
    kill(); // the next mount finds the mark of the killed one

    start("first");

    assertThat(isStub("a")).isFalse();
    assertThat(read("a")).isEqualTo("1");
  }

  /** A front that only fetches commits no row, and its mount still counts. */
  @Test
  void frontThatComesBack_afterItHasOnlyRead_andAnotherMountHasWritten_isNotStale()
      throws Exception {
    releaseAll();
    start("second");
    save("c", "900");
    persist();
    stop();
    start("first");
    assertThat(read("c")).isEqualTo("900");
    assertThat(isStub("c")).isFalse();
    stop();
    start("second");
    assertThat(isStub("c")).as("nothing was written").isTrue();
    save("c", "901");
    persist();
    stop();

    start("first");

    assertThat(read("c")).isEqualTo("901");
  }

  /** An attempt that is refused changes nothing of what the front knows. */
  @Test
  void frontThatWasRefused_whileAnotherHadTheStore_comesBackWithoutOldFiles() throws Exception {
    releaseAll();
    start("first");
    save("c", "900");
    persist();
    stop();
    start("second");
    assertThatThrownBy(() -> start("first")).hasMessageContaining("is written by");
    save("c", "901");
    persist();
    stop();

    start("first");

    assertThat(read("c")).isEqualTo("901");
  }

  /** The store names the mount, and the front does not: it may have the files of any moment. */
  @Test
  void frontThatWasKilled_beforeItNotedItsMount_beginsAnew() throws Exception {
    releaseAll();
    start("first");
    save("a", "1");
    persist();
    stop();
    Path note = directory.resolve("first/last");
    byte[] before = Files.readAllBytes(note);
    start("first");
    kill();
    Files.write(note, before);

    start("first");

    assertThat(isStub("a")).isTrue();
    assertThat(read("a")).isEqualTo("1");
    assertThat(front.pendingOperations()).isZero();
  }

  /** Programs have files open there: nothing may go away below them. */
  @Test
  void daemonThatGoesOn_keepsTheFront_andIsRefusedAfterAnotherMount() throws Exception {
    releaseAll();
    start("first");
    save("a", "1");
    persist();
    kill();
    start("first", true);
    assertThat(isStub("a")).isFalse();
    stop();
    start("second");
    stop();

    assertThatThrownBy(() -> start("first", true))
        .hasMessageContaining("front " + directory.resolve("second"))
        .hasMessageContaining("has had the store since")
        .matches(e -> ((ErrnoException) e).is(Errno.EBUSY));
    assertThat(directory.resolve("first/tree/a")).hasContent("1");
    start("first");
    assertThat(isStub("a")).isTrue();
  }

  /** The mark of its mount was put back, and nothing told that the store had changed. */
  @Test
  void frontWithOperations_isRefused_afterAnotherMount_andLosesNothing() throws Exception {
    releaseAll();
    start("first");
    save("c", "900");
    stop(); // with operations
    Path fronts = directory.resolve("first");
    String owner = Files.readString(fronts.resolve("owner"));
    try (Store removed = open(owner, fronts, true)) {
      removed.release(true);
    }
    start("second");
    save("c", "901");
    persist();
    stop();
    open(owner, fronts).close();

    assertThatThrownBy(() -> start("first"))
        .hasMessageContaining("front " + directory.resolve("second"))
        .hasMessageContaining("has had the store since")
        .hasMessageContaining("front " + fronts)
        .matches(e -> ((ErrnoException) e).is(Errno.EBUSY));

    assertThat(fronts.resolve("tree/c")).hasContent("900");
    try (Store there = open(owner, fronts, true)) {
      assertThat(there.stat("c").size()).isEqualTo(3);
      there.release(true);
    }
    start("second");
    assertThat(read("c")).isEqualTo("901");
  }

  /** The bare directory below a mountpoint may be at the place of a store, or another export. */
  @Test
  void storeWithoutFiles_thatNamesNoMount_isBare() throws Exception {
    assertThat(store.isBare()).isTrue();
    make("a", Stat.REGULAR | 0600);
    persist();
    assertThat(store.isBare()).isFalse();
    perform(new Operation.Remove("a", false));
    persist();
    store.noteMount();
    store.release(true);
    kill();

    store = open("two", directory.resolve("second"));

    assertThat(store.isBare()).isFalse();
    assertThat(store.lastMount()).isEqualTo("one");
    assertThat(Picture.of(store)).isEmpty();
  }
}
