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
 * The number of requests that an origin gets at once. The origin is a mount whose server is
 * stopped, so the kernel knows how many requests wait for it, and nothing depends on time.
 */
class ParallelFetchesIT {
  private static final Duration WAIT = Duration.ofSeconds(60);
  private static final int SMALL_FILES = 24;
  private static final int SMALL = 100_000;
  private static final int LARGE = 2 << 20;

  /** Turns that a new mount has at its origin, and those of them that large items may take. */
  private static final int TURNS = 16;

  private static final int LARGE_TURNS = 12;
  private static final long LEAST = 4;
  private static final long MOST = 128;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private HangingOrigin store;
  private Mount mount;

  private Dataset mount(int files, int small) {
    Dataset dataset =
        Dataset.create(sandbox.tmpfs("origin"), files, i -> i < small ? SMALL : LARGE);
    store = HangingOrigin.of(sandbox, dataset.root());
    mount = sandbox.mount(store.root(), "--capacity", "1G", "--count-opens", "off");
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
            .filter(row -> row.mountpoint().equals(store.root().toString()))
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

  @Test
  void smallFiles_behindLargeItems_areAskedForAtOnce() throws IOException {
    int large = LARGE_TURNS + 8;
    Dataset dataset = mount(SMALL_FILES + large, SMALL_FILES);
    List<Child> readers = new ArrayList<>();
    for (int i = 0; i < large; i++) {
      readers.add(read(dataset, SMALL_FILES + i, 1));
    }
    awaitFigures(LARGE_TURNS, large - LARGE_TURNS);
    Await.value(WAIT, "large ones are asked for", this::requestsAtStore, n -> n >= LARGE_TURNS);

    for (int i = 0; i < TURNS - LARGE_TURNS; i++) {
      readers.add(read(dataset, i, SMALL));
    }
    awaitFigures(TURNS, large - LARGE_TURNS);
    Await.value(WAIT, "small ones are asked for", this::requestsAtStore, n -> n >= TURNS);

    for (int i = TURNS - LARGE_TURNS; i < SMALL_FILES; i++) {
      readers.add(read(dataset, i, SMALL));
    }
    awaitFigures(TURNS, large + SMALL_FILES - TURNS);
    assertThat(figure("limit")).isEqualTo(TURNS);

    store.thaw();
    readers.forEach(reader -> reader.await(WAIT).mustSucceed());
    awaitFigures(0, 0);
    assertThat(figure("limit")).isBetween(LEAST, MOST);
    assertThat(Files.readAllBytes(mount.path(dataset.files().get(0))))
        .isEqualTo(Files.readAllBytes(dataset.file(0)));
  }

  private void awaitFigures(long inFlight, long queued) {
    mount.awaitStats(
        "in flight %d, queued %d".formatted(inFlight, queued),
        stats ->
            stats.number("fetches.origin.in_flight") == inFlight
                && stats.number("fetches.origin.queued") == queued);
  }
}
