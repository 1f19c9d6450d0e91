package io.holdfast.it;

import static io.holdfast.posix.Libc.LIBC;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Calls that fail on a read-only tree, each a function from the tree's root to the result. See
 * {@link OddTree}.
 */
final class FailingCalls {
  private static final RawPath PLAIN = RawPath.of(OddTree.PLAIN);

  private FailingCalls() {}

  static Map<String, ToLongFunction<RawPath>> all() {
    Map<String, ToLongFunction<RawPath>> calls = new LinkedHashMap<>(mutations());
    calls.putAll(lookups());
    calls.putAll(wrongKinds());
    calls.putAll(mutationsOfNothing());
    return calls;
  }

  private static Map<String, ToLongFunction<RawPath>> lookups() {
    Map<String, ToLongFunction<RawPath>> calls = new LinkedHashMap<>();
    calls.put("open missing", r -> Posix.tryOpen(r.child("class_a/missing"), Posix.O_RDONLY));
    calls.put("stat missing folder", r -> Posix.tryStat(r.child("missing/also")));
    calls.put("stat below a file", r -> Posix.tryStat(r.child(PLAIN).child("below")));
    calls.put("stat below a fifo", r -> Posix.tryStat(r.child("special/fifo/below")));
    calls.put("name of 255", r -> Posix.tryStat(r.child("n".repeat(255))));
    calls.put("name of 256", r -> Posix.tryStat(r.child("n".repeat(256))));
    calls.put("name of 256 in a folder", r -> Posix.tryStat(r.child("class_a/" + "n".repeat(256))));
    calls.put("name of 2000", r -> Posix.tryStat(r.child("n".repeat(2000))));
    calls.put("path of 5000", r -> Posix.tryStat(r.child("n/".repeat(2500))));
    calls.put("open a loop", r -> Posix.tryOpen(r.child("links/loop_a"), Posix.O_RDONLY));
    calls.put("open dangling", r -> Posix.tryOpen(r.child("links/dangling"), Posix.O_RDONLY));
    calls.put("open through link", r -> Posix.tryOpen(r.child("links/relative"), Posix.O_RDONLY));
    calls.put("open a socket", r -> Posix.tryOpen(r.child("special/socket"), Posix.O_RDONLY));
    return calls;
  }

  private static Map<String, ToLongFunction<RawPath>> wrongKinds() {
    Map<String, ToLongFunction<RawPath>> calls = new LinkedHashMap<>();
    byte[] small = new byte[1];
    byte[] large = new byte[64];
    calls.put(
        "readlink of a file", r -> Posix.call(() -> LIBC.readlink(c(r, OddTree.PLAIN), large, 64)));
    calls.put(
        "readlink of a folder", r -> Posix.call(() -> LIBC.readlink(c(r, "class_a"), large, 64)));
    calls.put("opendir of a file", r -> Posix.tryOpendir(r.child(PLAIN)));
    calls.put("opendir of nothing", r -> Posix.tryOpendir(r.child("missing")));
    calls.put("open folder to write", r -> Posix.tryOpen(r.child("class_a"), Posix.O_WRONLY));
    calls.put("read a folder", FailingCalls::readFolder);
    calls.put("xattr missing", r -> xattr(r, "xattrs/file", "user.none", large));
    calls.put("xattr too small", r -> xattr(r, "xattrs/file", "user.comment", small));
    calls.put("xattr of no namespace", r -> xattr(r, "xattrs/file", "bogus.name", large));
    calls.put("xattr user of a link", r -> xattr(r, "xattrs/link", "user.none", large));
    calls.put(
        "listxattr too small",
        r -> Posix.call(() -> LIBC.llistxattr(c(r, "xattrs/file"), small, 1)));
    calls.put("access to read", r -> Posix.call(() -> LIBC.access(c(r, OddTree.PLAIN), 4)));
    calls.put("access to execute", r -> Posix.call(() -> LIBC.access(c(r, OddTree.PLAIN), 1)));
    return calls;
  }

  /** Calls that would change files. */
  static Map<String, ToLongFunction<RawPath>> mutations() {
    Map<String, ToLongFunction<RawPath>> calls = new LinkedHashMap<>();
    for (Map.Entry<String, Integer> flags :
        Map.of(
                "write", Posix.O_WRONLY,
                "read and write", Posix.O_RDWR,
                "truncate", Posix.O_TRUNC,
                "append", Posix.O_WRONLY | Posix.O_APPEND)
            .entrySet()) {
      calls.put("open to " + flags.getKey(), r -> Posix.tryOpen(r.child(PLAIN), flags.getValue()));
    }
    calls.put(
        "open to create",
        r -> Posix.tryOpen(r.child("class_a/new"), Posix.O_WRONLY | Posix.O_CREAT));
    calls.put("open unnamed", r -> Posix.tryOpen(r, Posix.O_WRONLY | Posix.O_TMPFILE));
    calls.put("unlink", r -> Posix.call(() -> LIBC.unlink(c(r, OddTree.PLAIN))));
    calls.put("mkdir", r -> Posix.call(() -> LIBC.mkdir(c(r, "new"), 0755)));
    calls.put("rmdir", r -> Posix.call(() -> LIBC.rmdir(c(r, "class_empty"))));
    calls.put(
        "rename", r -> Posix.call(() -> LIBC.rename(c(r, OddTree.PLAIN), c(r, "class_a/new"))));
    calls.put("link", r -> Posix.call(() -> LIBC.link(c(r, OddTree.PLAIN), c(r, "new"))));
    calls.put(
        "symlink", r -> Posix.call(() -> LIBC.symlink(RawPath.of("x").cString(), c(r, "new"))));
    calls.put("mkfifo", r -> Posix.call(() -> LIBC.mknod(c(r, "new"), Posix.S_IFIFO | 0644, 0)));
    calls.put("chmod", r -> Posix.call(() -> LIBC.chmod(c(r, OddTree.PLAIN), 0600)));
    calls.put("chown", r -> Posix.call(() -> LIBC.lchown(c(r, OddTree.PLAIN), 1, 1)));
    calls.put(
        "utimes",
        r ->
            Posix.call(() -> LIBC.utimensat(Posix.AT_FDCWD, c(r, OddTree.PLAIN), new byte[32], 0)));
    calls.put("truncate", r -> Posix.call(() -> LIBC.truncate(c(r, OddTree.PLAIN), 0)));
    calls.put(
        "setxattr",
        r ->
            Posix.call(
                () -> LIBC.lsetxattr(c(r, OddTree.PLAIN), name("user.n"), new byte[1], 1, 0)));
    calls.put(
        "removexattr",
        r -> Posix.call(() -> LIBC.lremovexattr(c(r, "xattrs/file"), name("user.comment"))));
    calls.put("access to write", r -> Posix.call(() -> LIBC.access(c(r, OddTree.PLAIN), 2)));
    return calls;
  }

  private static Map<String, ToLongFunction<RawPath>> mutationsOfNothing() {
    Map<String, ToLongFunction<RawPath>> calls = new LinkedHashMap<>();
    calls.put("unlink missing", r -> Posix.call(() -> LIBC.unlink(c(r, "missing"))));
    calls.put("mkdir existing", r -> Posix.call(() -> LIBC.mkdir(c(r, "class_a"), 0755)));
    calls.put("rmdir a file", r -> Posix.call(() -> LIBC.rmdir(c(r, OddTree.PLAIN))));
    calls.put("rename missing", r -> Posix.call(() -> LIBC.rename(c(r, "missing"), c(r, "new"))));
    calls.put(
        "link to existing",
        r -> Posix.call(() -> LIBC.link(c(r, OddTree.PLAIN), c(r, OddTree.EMPTY))));
    calls.put("truncate a folder", r -> Posix.call(() -> LIBC.truncate(c(r, "class_a"), 0)));
    calls.put("chmod missing", r -> Posix.call(() -> LIBC.chmod(c(r, "missing"), 0644)));
    calls.put(
        "create below a file",
        r -> Posix.tryOpen(r.child(PLAIN).child("x"), Posix.O_WRONLY | Posix.O_CREAT));
    return calls;
  }

  private static long readFolder(RawPath root) {
    int fd = LIBC.open(c(root, "class_a"), Posix.O_RDONLY, 0);
    try {
      return Posix.call(() -> LIBC.pread(fd, new byte[10], 10, 0));
    } finally {
      LIBC.close(fd);
    }
  }

  private static long xattr(RawPath root, String file, String attribute, byte[] buffer) {
    return Posix.call(
        () -> LIBC.lgetxattr(c(root, file), name(attribute), buffer, (long) buffer.length));
  }

  private static byte[] c(RawPath root, String name) {
    return root.child(name).cString();
  }

  private static byte[] name(String text) {
    return text.concat("\0").getBytes(UTF_8);
  }
}
