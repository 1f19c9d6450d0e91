package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Procfs;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import jnr.constants.platform.Errno;

/** A program that does to a front what its steps say. */
final class RandomProgram {
  private static final List<String> NAMES =
      List.of("a", "b", "d", "d/x", "d/y", "e", "e/x", "e/d", "latest");
  private static final int LARGEST = 9000;

  /** How many kinds of steps are the program's own: smaller ones. */
  static final int KINDS = 17;

  /** A step of a program or of fate; the numbers choose names, places and lengths. */
  record Step(int kind, int one, int two, int three) {
    /** Returns the name that the first number chooses. */
    String first() {
      return NAMES.get(one % NAMES.size());
    }

    /** Returns the name that the second number chooses. */
    String second() {
      return NAMES.get(two % NAMES.size());
    }
  }

  private final Supplier<Front> front;
  private final int me = Procfs.ownUid();
  private final List<int[]> held = new ArrayList<>();

  /** Makes a program for the front of each moment. */
  RandomProgram(Supplier<Front> front) {
    this.front = front;
  }

  /** Closes the files that it has open. */
  void closeFiles() {
    held.forEach(file -> LIBC.close(file[0]));
    held.clear();
  }

  void perform(Step step) throws Exception {
    String one = step.first();
    String two = step.second();
    long number = step.three() % LARGEST;
    switch (step.kind()) {
      case 0, 1 -> make(new Operation.Make(one, Stat.REGULAR | 0640, 0, me, me, ""));
      case 2 -> make(new Operation.Make(one, Stat.DIRECTORY | 0750, 0, me, me, ""));
      case 3 -> make(new Operation.Make(one, Stat.SYMLINK | 0777, 0, me, me, two));
      case 4 -> make(new Operation.Link(one, two));
      case 5 -> make(new Operation.Remove(one, step.three() % 2 == 0));
      case 6, 7 -> make(new Operation.Rename(one, two, 0));
      case 8 -> make(new Operation.Rename(one, two, 1 + step.three() % 2));
      case 9 -> resize(one, number);
      case 10, 11, 12 -> write(one, step.two() % LARGEST, step.three());
      case 13 ->
          make(new Operation.Attributes(one, 0600 + step.two() % 64, -1, -1, number, number));
      case 14 -> make(new Operation.SetXattr(one, "user.x", "v" + step.three(), 0));
      case 15 -> hold(one);
      default -> writeHeld(step.two() % LARGEST, step.three());
    }
  }

  /** Performs an operation, which fails if it makes no sense, as it would for a program. */
  private void make(Operation operation) throws InterruptedException {
    try {
      if (operation instanceof Operation.Link link
          && front.get().tree().stat(link.existing()).isDirectory()) {
        return;
      }
      front.get().perform(() -> operation);
    } catch (ErrnoException e) {
      assertThat(e.errno()).isNotEqualTo(Errno.EIO.intValue());
    }
  }

  private boolean isRegular(String path) throws ErrnoException {
    return front.get().tree().find(path).filter(Stat::isRegular).isPresent();
  }

  private void resize(String path, long size) throws ErrnoException, InterruptedException {
    if (isRegular(path)) {
      front.get().perform(() -> new Operation.Resize(path, size));
    }
  }

  private void write(String path, long offset, int seed) throws Exception {
    if (isRegular(path)) {
      int fd = front.get().tree().open(path, FileTree.O_RDWR);
      write(fd, offset, seed);
      LIBC.close(fd);
    }
  }

  private void hold(String path) throws ErrnoException {
    if (isRegular(path)) {
      held.add(new int[] {front.get().tree().open(path, FileTree.O_RDWR)});
    }
  }

  private void writeHeld(long offset, int seed) throws Exception {
    if (!held.isEmpty()) {
      write(held.get(seed % held.size())[0], offset, seed);
    }
  }

  private void write(int fd, long offset, int seed) throws Exception {
    int length = 1 + seed % LARGEST;
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    long memory = LIBC.malloc(length);
    Memory.put(memory, bytes, 0, length);
    long inode = FileTree.stat(fd).inode();
    Front now = front.get();
    int written = now.write(() -> now.pathOf(inode), fd, inode, memory, length, offset);
    assertThat(written).isEqualTo(length);
    LIBC.free(memory);
  }
}
