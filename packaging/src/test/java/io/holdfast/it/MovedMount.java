package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A mount below a directory that was renamed after the mount had begun. */
final class MovedMount {
  static final Duration START = Duration.ofSeconds(60);
  static final int FILES = 20;

  /** Longer than a daemon needs to notice the move. */
  private static final Duration NOTICE = Duration.ofSeconds(20);

  private final Sandbox sandbox;
  private final Dataset dataset;
  private final Mount mount;
  private final Path place;

  private MovedMount(Sandbox sandbox, Dataset dataset, Mount mount, Path place) {
    this.sandbox = sandbox;
    this.dataset = dataset;
    this.mount = mount;
    this.place = place;
  }

  static MovedMount create(Sandbox sandbox) {
    return create(sandbox, "alice");
  }

  /**
   * The same of a user.
   *
   * @param user other than the users of the sandbox's other mounts
   */
  static MovedMount create(Sandbox sandbox, String user) {
    Dataset dataset = Dataset.create(sandbox.folder("origin-" + user), FILES, i -> 10_000);
    Path home = sandbox.folder("scratch").resolve(user);
    Path old = home.resolveSibling("old-" + user);
    MovedMount moved;
    try {
      Path before = Files.createDirectories(home.resolve("data"));
      Mount mount = sandbox.mountAt(dataset.root(), before, "--capacity", "64M");
      Files.move(home, old);
      moved = new MovedMount(sandbox, dataset, mount, old.resolve("data"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    Await.until(NOTICE, "the daemon knows where its mount is", moved::isNoticed);
    return moved;
  }

  boolean isNoticed() {
    return place.toString().equals(mount.stats().at("mountpoint"));
  }

  Mount mount() {
    return mount;
  }

  /** Where the mount is now. */
  Path place() {
    return place;
  }

  void assertReads() throws IOException {
    for (String file : dataset.files()) {
      assertThat(place.resolve(file)).hasSameBinaryContentAs(dataset.root().resolve(file));
    }
  }

  void assertNothingLeft() {
    Await.until(
        START,
        "no mount is left",
        () -> MountTable.below(sandbox.root().resolve("scratch")).isEmpty());
    Await.until(START, "no file of the mount is left", () -> sandbox.sockets().isEmpty());
  }
}
