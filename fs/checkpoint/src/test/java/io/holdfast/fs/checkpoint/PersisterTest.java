package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.linux.Memory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class PersisterTest {
  private static final long CAPACITY = 3L << 20;
  private static final long LONG = TimeUnit.SECONDS.toNanos(30);
  private static final int PART = 1 << 20;

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
    store = new DirectoryStore(storePath, "one");
    persister = new Persister(front, store, 0, 0, new SaveMeter(System::nanoTime));
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

  @Test
  void secondWriter_isRefused_andToldWhoWrites() {
    assertThatThrownBy(() -> new DirectoryStore(storePath, "other"))
        .hasMessageContaining("is written by one")
        .hasMessageContaining(DirectoryStore.OWNER);
  }

  @Test
  void storeTakenOver_getsNothingMore() throws Exception {
    Files.writeString(storePath.resolve(DirectoryStore.OWNER), "other");
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
