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
   * Compares two trees; directories in {@code skipped} are compared as entries, without their
   * content.
   */
  TreeDiff(RawPath left, RawPath right, Set<String> skipped) {
    this.left = left;
    this.right = right;
    this.skipped = skipped;
  }

  /** A question about a path. */
  private interface Question<T> {
    T ask(RawPath path) throws IOException;
  }

  /** The differences; an error only when the left tree itself cannot be read. */
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
    check(name, "stat", Posix::lstat);
    if (check(name, "xattrs", Posix::xattrs)) {
      for (String xattr : Posix.xattrs(left.child(name))) {
        check(name, xattr, path -> Arrays.toString(Posix.xattr(path, xattr)));
      }
    }
    Stat stat = Posix.lstat(left.child(name));
    if (stat.isSymlink()) {
      check(name, "target", Posix::readlink);
    }
    if (skipped.contains(name.toString())) {
      return;
    }
    if (stat.isRegular()) {
      compareContents(name, stat.size());
    }
    if (stat.isDirectory() && check(name, "entries", Posix::list)) {
      for (Entry entry : Posix.list(left.child(name))) {
        compare(name.child(entry.name()));
      }
    }
  }

  private void compareContents(RawPath name, long size) throws IOException {
    for (long offset = 0; offset <= size; offset += BUFFER) {
      long from = offset;
      byte[] expected = Posix.pread(left.child(name), offset, BUFFER);
      if (!check(name, "contents from " + from, path -> sameAs(path, from, expected))) {
        return;
      }
    }
  }

  private static String sameAs(RawPath path, long offset, byte[] expected) throws IOException {
    byte[] actual = Posix.pread(path, offset, BUFFER);
    int at = Arrays.mismatch(expected, actual);
    return at < 0
        ? "the same"
        : "%d bytes, first difference at %d".formatted(actual.length, offset + at);
  }

  private <T> boolean check(RawPath name, String what, Question<T> question) throws IOException {
    String expected = question.ask(left.child(name)).toString();
    String actual;
    try {
      actual = question.ask(right.child(name)).toString();
    } catch (IOException e) {
      actual = e.toString();
    }
    if (expected.equals(actual)) {
      return true;
    }
    differences.add("%s: %s:%n  %s%n  %s".formatted(name, what, expected, actual));
    return false;
  }
}
