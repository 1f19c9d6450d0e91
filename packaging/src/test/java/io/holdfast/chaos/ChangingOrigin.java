package io.holdfast.chaos;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import io.holdfast.it.Await;
import io.holdfast.it.Child;
import io.holdfast.it.Sandbox;
import io.holdfast.it.Stamps;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLongArray;

/** The dataset in memory, behind a {@link FaultyOrigin}: files that get new versions, whole. */
final class ChangingOrigin {
  private static final Duration START = Duration.ofSeconds(60);

  private final VersionedFiles files;
  private final Path disk;
  private final Path store;
  private final Path root;
  private final AtomicLongArray versions;
  private final Child process;
  private int told;

  ChangingOrigin(Sandbox sandbox, VersionedFiles files) {
    this.files = files;
    disk = sandbox.tmpfs("disk");
    store = disk.resolve("store");
    root = sandbox.folder("origin");
    versions = new AtomicLongArray(files.count());
    try {
      for (String directory : files.directories()) {
        Files.createDirectories(store.resolve(directory));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (int file = 0; file < files.count(); file++) {
      change(file);
    }
    process = sandbox.start(Map.of(), FaultyOrigin.command(store, root, 0));
    Await.until(START, "the origin", () -> Files.exists(root.resolve(files.name(0))));
  }

  Path root() {
    return root;
  }

  /** How it is from now on: a line that {@link FaultyOrigin} understands. */
  synchronized void become(String mode) {
    process.tell(mode);
    told++;
    process.awaitLine(told, START);
  }

  /** Puts the next version in the place of some files. */
  void changeSome(Random random, int count) {
    for (int i = 0; i < count; i++) {
      change(random.nextInt(files.count()));
    }
  }

  private void change(int file) {
    long version = versions.get(file) + 1;
    try {
      Path fresh =
          Files.write(
              disk.resolve("fresh"), Stamps.bytes(file, version, 0, files.size(file, version)));
      Files.move(fresh, store.resolve(files.name(file)), ATOMIC_MOVE, REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    versions.set(file, version);
  }

  /** The version of each file. */
  List<String> versions() {
    List<String> all = new ArrayList<>();
    for (int file = 0; file < files.count(); file++) {
      all.add(Long.toString(versions.get(file)));
    }
    return all;
  }

  /** Ends it: nothing reads it any more. */
  void end(Sandbox sandbox) {
    sandbox.command("umount", root.toString());
    process.kill();
  }
}
