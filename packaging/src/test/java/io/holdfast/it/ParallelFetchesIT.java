package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What an origin is asked for at once. The origin is a Holdfast mount whose daemon is stopped, so
 * that the kernel tells how many requests it has for it and nothing depends on time.
 */
class ParallelFetchesIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final int READERS = 16;
  private static final int SMALL = 100_000;
  private static final int LARGE = 2 << 20;

  /** Turns that a new mount has at its origin, and those of them that large items may take. */
  private static final int TURNS = 16;

  private static final int LARGE_TURNS = 12;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private Mount store;
  private Mount mount;

  private Dataset mount(int files, int small) {
    Dataset dataset =
        Dataset.create(sandbox.tmpfs("origin"), files, i -> i < small ? SMALL : LARGE);
    store = sandbox.mount(dataset.root(), "--policy", "none", "--count-opens", "off");
    mount = sandbox.mount(store.mountpoint(), "--capacity", "1G", "--count-opens", "off");
    for (String file : dataset.files()) {
      assertThat(mount.path(file)).isRegularFile(); // and known to both from now on
    }
    mount.awaitStats(
        "no scan under way", stats -> Boolean.TRUE.equals(stats.at("dataset.scanned")));
    store.freeze();
    return dataset;
  }

  private Child read(Dataset dataset, int index, int bytes) {
    return sandbox.start(
        "head", "-c", Integer.toString(bytes), mount.path(dataset.files().get(index)).toString());
  }

  /** How many requests the kernel has for the store, which answers none. */
  private long requestsAtStore() {
    int minor =
        MountTable.rows().stream()
            .filter(row -> row.mountpoint().equals(store.mountpoint().toString()))
            .findFirst()
            .orElseThrow()
            .minor();
    try {
      Path waiting = sandbox.fuseConnection(minor).resolve("waiting");
      return Long.parseLong(Files.readString(waiting).strip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long figure(String name) {
    return mount.stats().number("fetches.origin." + name);
  }

  private void assertAllRead(Dataset dataset, List<Child> readers) throws IOException {
    store.thaw();
    readers.forEach(reader -> reader.await(WAIT).mustSucceed());
    assertThat(Files.readAllBytes(mount.path(dataset.files().get(0))))
        .isEqualTo(Files.readAllBytes(dataset.file(0)));
    mount.awaitStats("all is over", stats -> stats.number("fetches.origin.in_flight") == 0);
    assertThat(figure("queued")).isZero();
    assertThat(figure("limit")).isBetween(4L, 128L);
  }

  @Test
  void smallFiles_asManyReadersAsTurns_areAskedForAtOnce() throws IOException {
    Dataset dataset = mount(3 * READERS, 3 * READERS);
    List<Child> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      readers.add(read(dataset, i, SMALL));
    }
    Await.value(WAIT, "all are asked for", this::requestsAtStore, n -> n == READERS);

    for (int i = READERS; i < 3 * READERS; i++) {
      readers.add(read(dataset, i, SMALL));
    }
    mount.awaitStats(
        "the others wait", stats -> stats.number("fetches.origin.queued") == 2 * READERS);
    assertThat(requestsAtStore()).isEqualTo(TURNS);
    assertThat(figure("limit")).isEqualTo(TURNS);
    assertThat(figure("in_flight")).isEqualTo(TURNS);
    assertAllRead(dataset, readers);
  }

  @Test
  void smallFile_behindLargeItemsThatWait_isAskedForAtOnce() throws IOException {
    int large = LARGE_TURNS + 8;
    Dataset dataset = mount(1 + large, 1);
    List<Child> readers = new ArrayList<>();
    for (int i = 1; i <= large; i++) {
      readers.add(read(dataset, i, 1));
    }
    mount.awaitStats(
        "large items wait", stats -> stats.number("fetches.origin.queued") == large - LARGE_TURNS);
    assertThat(figure("in_flight")).isEqualTo(LARGE_TURNS);
    long before = requestsAtStore();

    readers.add(read(dataset, 0, SMALL));

    mount.awaitStats(
        "the small one has its turn",
        stats -> stats.number("fetches.origin.in_flight") == LARGE_TURNS + 1);
    Await.value(WAIT, "the small one is asked for", this::requestsAtStore, n -> n > before);
    assertThat(figure("queued")).isEqualTo(large - LARGE_TURNS);
    assertAllRead(dataset, readers);
  }
}
