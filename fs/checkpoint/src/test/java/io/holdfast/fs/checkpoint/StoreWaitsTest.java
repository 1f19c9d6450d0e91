package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class StoreWaitsTest {
  private static final int MANY = 1000;

  @TempDir Path directory;

  private final AtomicLong clock = new AtomicLong(1_700_000_000_000_000_000L);
  private final List<CompletableFuture<Optional<ErrnoException>>> ends = new ArrayList<>();
  private Path storePath;
  private Front front;
  private DirectoryStore store;
  private Persister persister;
  private StoreWaits waits;

  @BeforeEach
  void open() throws Exception {
    storePath = Files.createDirectory(directory.resolve("store"));
    front = new Front(directory.resolve("front"), 1 << 20, true, clock::incrementAndGet);
    store = new DirectoryStore(storePath, "one", false);
    persister = new Persister(front, store, 0, 0, SaveMeter.ofProcess());
    waits = new StoreWaits(front, persister);
  }

  @AfterEach
  void close() {
    front.close();
    persister.close();
    front.closeFiles();
    store.close();
  }

  private void make(String name) throws Exception {
    Stat root = front.tree().stat("");
    front.perform(
        () -> new Operation.Make(name, Stat.REGULAR | 0600, 0, root.uid(), root.gid(), ""));
  }

  private StoreWaits.Wait begin(long sequence) {
    CompletableFuture<Optional<ErrnoException>> end = new CompletableFuture<>();
    ends.add(end);
    return waits.begin(sequence, failure -> end.complete(Optional.ofNullable(failure)));
  }

  private Optional<ErrnoException> end(int number) throws Exception {
    return ends.get(number).get(30, TimeUnit.SECONDS);
  }

  /** A thread each, and none was left for requests that wait for nothing. */
  @Test
  void manyThatWait_areToldOnceTheStoreHasIt_andKeepNoThreads() throws Exception {
    int before = Thread.activeCount();
    make("a");
    make("b");
    for (int i = 0; i < MANY; i++) {
      StoreWaits.Wait unused = begin(2 - i % 2);
    }
    assertThat(Thread.activeCount()).isLessThan(before + MANY / 2);
    persister.stepNow();
    for (int i = 1; i < MANY; i += 2) {
      assertThat(end(i)).isEmpty();
    }
    assertThat(ends.get(0)).isNotDone();
    persister.stepNow();
    for (int i = 0; i < MANY; i += 2) {
      assertThat(end(i)).isEmpty();
    }
  }

  @Test
  void failureOfTheStore_isTold_toThoseThatWaited() throws Exception {
    Files.writeString(storePath.resolve("a"), "not ours");
    make("a");
    StoreWaits.Wait unused = begin(1);
    assertThatThrownBy(persister::stepNow)
        .isInstanceOfSatisfying(ErrnoException.class, persister::failed);
    assertThat(end(0).orElseThrow()).hasMessageContaining("this node did not make it");

    StoreWaits.Wait later = begin(1);
    Files.delete(storePath.resolve("a"));
    persister.stepNow();
    assertThat(end(1)).as("of who came behind it").isEmpty();
    later.interrupt();
  }

  @Test
  void interrupt_endsOne_andNoOther() throws Exception {
    make("a");
    StoreWaits.Wait interrupted = begin(1);
    StoreWaits.Wait unused = begin(1);

    interrupted.interrupt();

    assertThat(end(0).orElseThrow().is(Errno.EINTR)).isTrue();
    assertThat(ends.get(1)).isNotDone();
    persister.stepNow();
    assertThat(end(1)).isEmpty();
  }

  @Test
  void endOfTheFront_endsAll() throws Exception {
    make("a");
    for (int i = 0; i < 3; i++) {
      StoreWaits.Wait unused = begin(1);
    }

    front.close();

    for (int i = 0; i < 3; i++) {
      assertThat(end(i).orElseThrow()).hasMessage("the daemon ends");
    }
  }
}
