package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.checkpoint.CheckpointFilesystem.Created;
import io.holdfast.fs.checkpoint.CheckpointFilesystem.FsyncPolicy;
import io.holdfast.fs.linux.Memory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

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
    store = new DirectoryStore(Files.createDirectory(directory.resolve("store")), "one");
    SaveMeter meter = new SaveMeter(System::nanoTime);
    persister = new Persister(front, store, 0, 0, meter);
    filesystem = new CheckpointFilesystem(front, store, persister, FsyncPolicy.STORE, meter);
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
    assertThatThrownBy(() -> filesystem.sync(node, created.handle()))
        .as("the store has no such name, which is seen by waiting for it")
        .isInstanceOf(ErrnoException.class);
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
}
