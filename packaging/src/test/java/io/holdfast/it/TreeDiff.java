package io.holdfast.it;

import io.holdfast.posix.Posix;
import io.holdfast.posix.Posix.Entry;
import io.holdfast.posix.RawPath;
import io.holdfast.posix.Stat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Walks two trees together and tells every difference that a program could see. */
final class TreeDiff {
  private static final int BUFFER = 1 << 20;

  private final RawPath left;
  private final RawPath right;
  private final Set<String> skipped;
  private final List<String> differences = new ArrayList<>();
  private int compared;

  /**
   * Compares two trees; what is named in {@code skipped} is compared as an entry but not looked
   * into.
   */
  TreeDiff(RawPath left, RawPath right, Set<String> skipped) {
    this.left = left;
    this.right = right;
    this.skipped = skipped;
  }

  List<String> differences() throws IOException {
    compare(RawPath.of(""));
    return differences;
  }

  /** How many names were compared. */
  int compared() {
    return compared;
  }

  private void compare(RawPath name) throws IOException {
    compared++;
    Stat stat = Posix.lstat(left.child(name));
    check(name, "stat", stat, Posix.lstat(right.child(name)));
    compareXattrs(name);
    if (stat.isSymlink()) {
      check(name, "target", Posix.readlink(left.child(name)), Posix.readlink(right.child(name)));
    }
    if (skipped.contains(name.toString())) {
      return;
    }
    if (stat.isRegular()) {
      compareContents(name, stat.size());
    }
    if (stat.isDirectory()) {
      List<Entry> entries = Posix.list(left.child(name));
      if (check(name, "entries", entries, Posix.list(right.child(name)))) {
        for (Entry entry : entries) {
          compare(name.child(entry.name()));
        }
      }
    }
  }

  private void compareXattrs(RawPath name) throws IOException {
    List<String> names = Posix.xattrs(left.child(name));
    if (check(name, "xattrs", names, Posix.xattrs(right.child(name)))) {
      for (String xattr : names) {
        check(
            name,
            xattr,
            Arrays.toString(Posix.xattr(left.child(name), xattr)),
            Arrays.toString(Posix.xattr(right.child(name), xattr)));
      }
    }
  }

  private void compareContents(RawPath name, long size) throws IOException {
    for (long offset = 0; offset <= size; offset += BUFFER) {
      byte[] expected = Posix.pread(left.child(name), offset, BUFFER);
      byte[] actual = Posix.pread(right.child(name), offset, BUFFER);
      int at = Arrays.mismatch(expected, actual);
      if (at >= 0) {
        differences.add(
            "%s: contents differ at %d, %d and %d bytes from %d on"
                .formatted(name, offset + at, expected.length, actual.length, offset));
        return;
      }
    }
  }

  private boolean check(RawPath name, String what, Object expected, Object actual) {
    if (expected.equals(actual)) {
      return true;
    }
    differences.add("%s: %s:\n  %s\n  %s".formatted(name, what, expected, actual));
    return false;
  }
}
