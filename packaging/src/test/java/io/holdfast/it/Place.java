package io.holdfast.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** A directory of one test, on a mount that several tests share. */
record Place(Mount mount, String name) {
  private static final Duration READ_DEADLINE = Duration.ofSeconds(60);

  /** A new directory at the origin. */
  static Place create(Mount mount, String name) {
    try {
      Files.createDirectory(Path.of(mount.source()).resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Place(mount, name);
  }

  Path origin() {
    return Path.of(mount.source()).resolve(name);
  }

  /** The directory on the mount. */
  Path root() {
    return mount.path(name);
  }

  Path path(String file) {
    return root().resolve(file);
  }

  /** Returns what the mount calls these files. */
  List<String> ofMount(List<String> files) {
    return files.stream().map(file -> name + "/" + file).toList();
  }

  /** Asserts that two readers who share the files get the bytes of all of them. */
  void assertReadsAll(Sandbox sandbox, Dataset dataset) {
    sandbox
        .startJava(Reader.class, root(), dataset.permutation(sandbox, new Random(1)), 2, "share")
        .await(READ_DEADLINE)
        .mustSucceed();
  }
}
