package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The directories from a dataset's root to one of its directories. Each is opened from the one
 * above it, and not by {@code ..}: above the root's entries, {@code ..} leads to whatever is
 * mounted over the root, which may be Holdfast's own mount.
 *
 * @param root a descriptor of the root
 * @param path path of the last directory
 * @param look reads a directory's attributes
 * @param looked returns the attributes of the directory that {@link Statx} has just read
 */
record DirectoryPath(int root, OriginPath path, Look look, Supplier<Attributes> looked) {
  /** The flags to open a directory whose attributes or entries are read. */
  static final int FLAGS = Linux.O_PATH | Linux.O_DIRECTORY | Linux.O_NOFOLLOW | Linux.O_CLOEXEC;

  private static final byte SLASH = '/';

  /** Reads the current attributes of a directory. */
  @FunctionalInterface
  interface Look {
    /**
     * Returns the attributes of a directory.
     *
     * @param fd a descriptor of the directory
     * @param known its last known attributes, or null
     */
    Attributes at(int fd, @Nullable Attributes known) throws FsException;
  }

  /** Tells whether an entry can have this name. */
  static boolean isName(byte[] name) {
    boolean self = name.length == 1 && name[0] == '.';
    boolean parent = name.length == 2 && name[0] == '.' && name[1] == '.';
    boolean joined = false;
    for (byte each : name) {
      joined |= each == SLASH || each == 0;
    }
    return name.length > 0 && !self && !parent && !joined;
  }

  /**
   * Returns the current attributes of the directories, the last one first.
   *
   * @param last a descriptor of the last directory
   * @param known the last known attributes, in the same order; may be shorter
   * @param all whether to return all directories, or only the last
   * @throws FsException STALE where the path leads to another directory by now
   */
  List<Attributes> now(int last, List<Attributes> known, boolean all) throws FsException {
    Attributes directory = look.at(last, known.isEmpty() ? null : known.get(0));
    List<byte[]> names = all ? names() : List.of();
    if (names.isEmpty()) {
      return List.of(directory);
    }
    List<Attributes> way = new ArrayList<>(names.size() + 1);
    int at = root;
    try {
      for (byte[] name : names.subList(0, names.size() - 1)) {
        way.add(look.at(at, knownOf(known, names.size() - way.size())));
        int next = Linux.openBeneath(at, name, FLAGS);
        check(Math.max(0, -next));
        close(at);
        at = next;
      }
      way.add(look.at(at, knownOf(known, 1)));
      check(Statx.call(at, names.get(names.size() - 1)));
      if (!looked.get().sameEntry(directory)) {
        throw new FsException(FsError.STALE, path + ": moved at the origin");
      }
    } finally {
      close(at);
    }
    way.add(directory);
    Collections.reverse(way);
    return way;
  }

  private void close(int fd) {
    if (fd != root) {
      LIBC.close(fd);
    }
  }

  private static @Nullable Attributes knownOf(List<Attributes> known, int distance) {
    return distance < known.size() ? known.get(distance) : null;
  }

  private void check(int errno) throws FsException {
    if (errno != 0) {
      throw Linux.failure(errno, path.toString());
    }
  }

  private List<byte[]> names() {
    byte[] bytes = path.bytes();
    List<byte[]> names = new ArrayList<>();
    int from = 0;
    for (int at = 0; at <= bytes.length; at++) {
      if (at > from && (at == bytes.length || bytes[at] == SLASH)) {
        names.add(Arrays.copyOfRange(bytes, from, at));
        from = at + 1;
      }
    }
    return names;
  }
}
