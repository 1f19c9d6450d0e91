package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.checkpoint.CheckpointFilesystem.Created;
import io.holdfast.fs.checkpoint.CheckpointFilesystem.FsyncPolicy;
import io.holdfast.fs.checkpoint.CheckpointFilesystem.Listed;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The daemon is killed, and the next one goes on: nodes and handles are the same files, and a
 * request that was not answered is performed once, however far the killed daemon had come.
 */
@Timeout(60)
class NextDaemonTest {
  private static final long ROOT = CheckpointFilesystem.ROOT;
  private static final int LENGTH = 1000;
  private static final int O_RDWR = FileTree.O_RDWR;
  private static final long SENT_AGAIN = 1L << 63;

  @TempDir Path directory;

  private final AtomicLong clock = new AtomicLong(1_700_000_000_000_000_000L);
  private final long memory = LIBC.malloc(LENGTH);
  private final List<GrowingMemory> memories = new ArrayList<>();
  private int me;
  private Front front;
  private DirectoryStore store;
  private Persister persister;
  private KernelState kernel;
  private CheckpointFilesystem filesystem;

  @BeforeEach
  void begin() throws Exception {
    Files.createDirectory(directory.resolve("store"));
    me = (Integer) Files.getAttribute(directory, "unix:uid");
    open();
  }

  private void open() throws IOException {
    front = new Front(directory.resolve("front"), 1 << 30, true, clock::incrementAndGet);
    store = new DirectoryStore(directory.resolve("store"), "one", false);
    SaveMeter meter = SaveMeter.ofProcess();
    persister = new Persister(front, store, 0, 0, meter);
    kernel = new KernelState(kept("nodes"), kept("handles"), kept("requests"));
    filesystem = new CheckpointFilesystem(front, store, persister, FsyncPolicy.NODE, meter, kernel);
  }

  private GrowingMemory kept(String name) throws IOException {
    GrowingMemory kept = GrowingMemory.at(directory.resolve(name));
    memories.add(kept);
    return kept;
  }

  /** All that the process has is gone; what it has in files is not. */
  private void kill() throws IOException {
    front.closeFiles();
    store.close();
    memories.forEach(GrowingMemory::close);
    memories.clear();
    open();
  }

  @AfterEach
  void close() {
    front.close();
    front.closeFiles();
    store.close();
    memories.forEach(GrowingMemory::close);
    LIBC.free(memory);
  }

  private long create(String name) throws Exception {
    return filesystem.create(ROOT, name, O_RDWR, 0600, me, me).handle();
  }

  private void write(long handle, int value) throws Exception {
    for (int i = 0; i < LENGTH; i++) {
      Memory.putByte(memory + i, value);
    }
    assertThat(filesystem.write(handle, memory, LENGTH, 0, false)).isEqualTo(LENGTH);
  }

  private void assertReads(long handle, int value) throws Exception {
    Memory.clear(memory, LENGTH);
    assertThat(filesystem.read(handle, memory, LENGTH, 0)).isEqualTo(LENGTH);
    assertThat(Memory.getByte(memory + LENGTH - 1)).isEqualTo(value);
  }

  /** A kill between a file's second name and its first write left a front that nobody opened. */
  @ParameterizedTest
  @ValueSource(strings = {"data", "unlinked"})
  void killed_withASecondNameOfANewFile_goesOn(String place) throws Exception {
    long handle = create("a");
    String inode = Long.toString(front.stat("a").inode());
    Path second = directory.resolve("front").resolve(place).resolve(inode);
    Files.createLink(second, directory.resolve("front/tree/a"));

    kill();

    write(handle, 7);
    assertReads(handle, 7);
    assertThat(filesystem.lookup(ROOT, "a").stat().size()).isEqualTo(LENGTH);
  }

  private static boolean is(Throwable failure, Errno errno) {
    return failure instanceof ErrnoException e && e.is(errno);
  }

  @Test
  void openFile_andWhatTheKernelHasLookedUp_areTheSame() throws Exception {
    long handle = create("a");
    write(handle, 1);
    long d = filesystem.make(ROOT, "d", Stat.DIRECTORY | 0700, 0, me, me, "").node();
    Created inner = filesystem.create(d, "x", O_RDWR, 0600, me, me);
    write(inner.handle(), 2);
    filesystem.rename(ROOT, "a", d, "b", 0);
    long listing = filesystem.openDirectory(d);

    for (int i = 0; i < 2; i++) {
      kill();

      assertReads(handle, 1);
      write(handle, 1);
      assertReads(inner.handle(), 2);
      assertThat(filesystem.lookup(d, "x").node()).isEqualTo(inner.found().node());
      assertThat(filesystem.attributes(inner.found().node()).size()).isEqualTo(LENGTH);
      assertThat(filesystem.list(listing, 0)).hasSize(4);
    }
    filesystem.rename(d, "x", ROOT, "y", 0);
    assertThat(filesystem.lookup(ROOT, "y").node()).isEqualTo(inner.found().node());
    filesystem.release(handle);
    assertThatThrownBy(() -> filesystem.read(handle, memory, LENGTH, 0))
        .matches(e -> is(e, Errno.EBADF));
    Created another = filesystem.create(ROOT, "new", O_RDWR, 0600, me, me);
    assertThat(another.handle()).isGreaterThan(listing);
    assertThat(another.found().node()).isGreaterThan(inner.found().node());
  }

  @Test
  void node_thatTheKernelHasForgotten_isNotKept() throws Exception {
    long d = filesystem.make(ROOT, "d", Stat.DIRECTORY | 0700, 0, me, me, "").node();
    long e = filesystem.make(d, "e", Stat.DIRECTORY | 0700, 0, me, me, "").node();
    kill();
    filesystem.forget(e, 1);
    filesystem.forget(d, 1);

    kill();

    assertThat(kernel.nodes().kept()).isEmpty();
    assertThatThrownBy(() -> filesystem.attributes(e)).matches(f -> is(f, Errno.ESTALE));
  }

  @Test
  void openFile_withoutAName_isThere_untilItIsClosed() throws Exception {
    long removed = create("a");
    write(removed, 1);
    long replaced = create("b");
    write(replaced, 2);
    create("c");
    filesystem.remove(ROOT, "a", false);
    filesystem.rename(ROOT, "c", ROOT, "b", 0);
    while (front.usage().pendingOperations() > 0) {
      persister.stepNow(); // the store needs its bytes no more
    }

    for (int i = 0; i < 2; i++) {
      kill();

      assertReads(removed, 1);
      assertReads(replaced, 2);
      write(removed, 1);
    }
    try (var names = Files.list(directory.resolve("front/unlinked"))) {
      assertThat(names).hasSize(2);
    }
    filesystem.release(removed);
    filesystem.release(replaced);
    assertThat(directory.resolve("front/unlinked")).isEmptyDirectory();
    assertThat(Files.getAttribute(directory.resolve("front/tree/b"), "unix:nlink")).isEqualTo(1);
  }

  /** Nobody has the bytes any more: the store has removed the file. */
  @Test
  void fileThatOnlyTheStoreHad_andWithoutAName_isStale_andOneWithANameIsReadThere()
      throws Exception {
    for (String name : List.of("named", "nameless")) {
      long handle = create(name);
      write(handle, 1);
      filesystem.release(handle);
    }
    while (front.usage().pendingOperations() > 0) {
      persister.stepNow();
    }
    front.makeStubs((path, bytes) -> true);
    long named = filesystem.open(filesystem.lookup(ROOT, "named").node(), 0);
    long nameless = filesystem.open(filesystem.lookup(ROOT, "nameless").node(), 0);
    assertReads(nameless, 1);
    filesystem.remove(ROOT, "nameless", false);
    assertReads(nameless, 1);

    kill();

    assertReads(named, 1);
    assertThatThrownBy(() -> filesystem.read(nameless, memory, LENGTH, 0))
        .matches(e -> is(e, Errno.ESTALE));
    filesystem.release(nameless);
    filesystem.release(named);
  }

  @Test
  void listing_goesOn_whereItWas() throws Exception {
    List<String> names = IntStream.range(0, 100).mapToObj(i -> "file-" + i).toList();
    for (String name : names) {
      filesystem.make(ROOT, name, Stat.REGULAR | 0600, 0, me, me, "");
    }
    long listing = filesystem.openDirectory(ROOT);
    List<Listed> first = List.copyOf(filesystem.list(listing, 0).subList(0, 40));

    kill();
    filesystem.make(ROOT, "new", Stat.REGULAR | 0600, 0, me, me, "");
    filesystem.remove(ROOT, first.get(10).entry().name(), false);

    List<String> all = new ArrayList<>(List.of(".", ".."));
    all.addAll(names);
    List<String> listed = new ArrayList<>();
    first.forEach(each -> listed.add(each.entry().name()));
    filesystem.list(listing, first.get(39).offset()).forEach(e -> listed.add(e.entry().name()));
    listed.remove("new"); // may be there or not
    assertThat(listed).containsExactlyInAnyOrderElementsOf(all);
  }

  /** How far the killed daemon had come with a request. */
  private enum Moment {
    RECEIVED,
    ABOUT_TO_LOG,
    LOGGED,
    PERFORMED
  }

  private interface Request {
    void perform() throws Exception;
  }

  /** Performs a request that the daemon does not come to answer; then the next daemon gets it. */
  private void killIn(Moment moment, long unique, Operation operation, Request request)
      throws Exception {
    long slot = receive(unique);
    kernel.requests().begin(slot);
    long next = front.last() + 1;
    switch (moment) {
      case RECEIVED -> kill();
      case ABOUT_TO_LOG -> {
        kernel.requests().performs(next);
        kill();
      }
      case LOGGED -> {
        kernel.requests().performs(next);
        long witness = operation.witness(front.tree());
        front.closeFiles();
        try (OperationsLog log =
            new OperationsLog(directory.resolve("front/log"), next, new Ignoring())) {
          log.append(clock.incrementAndGet(), witness, operation);
        }
        front = new Front(directory.resolve("front"), 1 << 30, false, clock::incrementAndGet);
        kill();
      }
      case PERFORMED -> {
        request.perform();
        kill();
      }
    }
    long again = receive(unique | SENT_AGAIN);
    kernel.requests().begin(again);
    request.perform();
    kernel.requests().end(again);
    kernel.requests().give(again);
  }

  private long receive(long unique) throws Exception {
    long slot = kernel.requests().take();
    Memory.putLong(slot + 8, unique);
    Memory.putInt(slot, RequestsInFlight.HEADER);
    return slot;
  }

  private static final class Ignoring implements OperationsLog.Reader {
    @Override
    public void entry(OperationsLog.Entry entry) {}

    @Override
    public void saved(OperationsLog.Saved saved) {}
  }

  @ParameterizedTest
  @EnumSource
  void requestThatIsSentAgain_isPerformedOnce(Moment moment) throws Exception {
    create("a");
    create("b");
    long c = filesystem.lookup(ROOT, "b").node();
    Operation.Make make = new Operation.Make("made", Stat.REGULAR | 0600, 0, me, me, "");

    killIn(moment, 10, new Operation.Remove("a", false), () -> filesystem.remove(ROOT, "a", false));
    killIn(
        moment,
        12,
        new Operation.Rename("b", "c", 0),
        () -> filesystem.rename(ROOT, "b", ROOT, "c", 0));
    killIn(moment, 14, new Operation.Link("c", "d"), () -> filesystem.link(c, ROOT, "d"));
    killIn(
        moment,
        16,
        make,
        () -> filesystem.create(ROOT, "made", O_RDWR | FileTree.O_EXCL, 0600, me, me));
    killIn(
        moment,
        18,
        new Operation.Make("dir", Stat.DIRECTORY | 0700, 0, me, me, ""),
        () -> filesystem.make(ROOT, "dir", Stat.DIRECTORY | 0700, 0, me, me, ""));
    killIn(
        moment, 20, new Operation.Remove("dir", true), () -> filesystem.remove(ROOT, "dir", true));

    assertThat(filesystem.lookup(ROOT, "c").node()).isEqualTo(c);
    assertThat(filesystem.lookup(ROOT, "d").stat().links()).isEqualTo(2);
    assertThat(filesystem.lookup(ROOT, "made").stat().size()).isZero();
    assertThat(front.tree().list("")).hasSize(3);
    assertThat(front.usage().pendingOperations()).as("each once").isEqualTo(8);
  }

  @Test
  void request_thatTwoDaemonsHavePerformedInPart_isPerformedOnce() throws Exception {
    create("a");
    long slot = receive(10);
    kernel.requests().begin(slot);
    filesystem.remove(ROOT, "a", false);
    kill();
    create("a"); // others go on before the kernel's request is read
    long again = receive(10 | SENT_AGAIN);
    kernel.requests().begin(again);
    kill();
    long last = receive(10 | SENT_AGAIN);
    kernel.requests().begin(last);

    filesystem.remove(ROOT, "a", false);

    kernel.requests().end(last);
    assertThat(filesystem.lookup(ROOT, "a").stat().size()).as("another file").isZero();
  }

  /** The numbers that a request left unperformed are those of others' operations then. */
  @Test
  void request_whoseNumberAnotherHasGotSince_isPerformed() throws Exception {
    create("a");
    long slot = receive(10);
    kernel.requests().begin(slot);
    kernel.requests().performs(front.last() + 1);
    kill();
    create("b");
    kill();
    long again = receive(10 | SENT_AGAIN);
    kernel.requests().begin(again);

    filesystem.remove(ROOT, "a", false);

    kernel.requests().end(again);
    assertThatThrownBy(() -> filesystem.lookup(ROOT, "a")).matches(e -> is(e, Errno.ENOENT));
  }

  @Test
  void handle_thatNoProgramWasToldOf_isClosed() throws Exception {
    create("a");
    long node = filesystem.lookup(ROOT, "a").node();
    long slot = receive(10);
    kernel.requests().begin(slot);
    long untold = filesystem.open(node, O_RDWR);
    kill();
    long again = receive(10 | SENT_AGAIN);
    kernel.requests().begin(again);

    long told = filesystem.open(node, O_RDWR);

    kernel.requests().end(again);
    kernel.requests().give(again);
    assertThatThrownBy(() -> filesystem.read(untold, memory, LENGTH, 0))
        .matches(e -> is(e, Errno.EBADF));
    assertThat(filesystem.read(told, memory, LENGTH, 0)).isZero();
    assertThat(kernel.requests().forgetLeft()).isEmpty();
  }

  @Test
  void requestsThatTheKernelDoesNotSendAgain_areNamed_andForgotten() throws Exception {
    kernel.requests().begin(receive(10));
    kernel.requests().begin(receive(12));
    long answered = receive(14);
    kernel.requests().begin(answered);
    kernel.requests().end(answered);

    kill();

    assertThat(kernel.requests().forgetLeft()).containsExactlyInAnyOrder(10L, 12L);
    kill();
    assertThat(kernel.requests().forgetLeft()).isEmpty();
  }
}
