package io.holdfast.it;

import static io.holdfast.posix.Libc.LIBC;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Sets POSIX ACLs, as texts: {@code u::rw,u:1:r,g::-,m::r,o::-}. */
final class Acls {
  static final String ACCESS = "system.posix_acl_access";
  static final String DEFAULT = "system.posix_acl_default";

  private static final int ENTRY = 8;
  private static final int NAMED = 1;
  private static final Map<String, Integer> TAGS = Map.of("u", 1, "g", 4, "m", 0x10, "o", 0x20);

  private Acls() {}

  /** Gives an entry an ACL. */
  static void set(Path path, String acl) {
    set(path, ACCESS, acl);
  }

  /** Gives an entry an ACL, or a directory one for what will be made in it. */
  static void set(Path path, String name, String acl) {
    byte[] value = bytes(acl);
    RawPath raw = RawPath.of(path);
    Posix.must(
        "set " + acl + " of",
        raw,
        () ->
            LIBC.lsetxattr(
                raw.cString(), RawPath.of(name).cString(), value, (long) value.length, 0));
  }

  /** Leaves an entry with what its mode says. */
  static void remove(Path path) {
    RawPath raw = RawPath.of(path);
    Posix.must(
        "no ACL of", raw, () -> LIBC.lremovexattr(raw.cString(), RawPath.of(ACCESS).cString()));
  }

  /** The value of the attribute that is this ACL. */
  static byte[] bytes(String acl) {
    List<String> entries = List.of(acl.split(",", -1));
    ByteBuffer value =
        ByteBuffer.allocate(4 + ENTRY * entries.size()).order(ByteOrder.LITTLE_ENDIAN).putInt(2);
    for (String entry : entries) {
      String[] part = entry.split(":", -1);
      boolean named = !part[NAMED].isEmpty();
      int tag = TAGS.get(part[0]);
      value.putShort((short) (named ? 2 * tag : tag)).putShort((short) rights(part[2]));
      value.putInt(named ? Integer.parseInt(part[NAMED]) : -1);
    }
    return value.array();
  }

  private static int rights(String text) {
    return (text.contains("r") ? 4 : 0)
        + (text.contains("w") ? 2 : 0)
        + (text.contains("x") ? 1 : 0);
  }

  /** A user, with groups, who looks. */
  record User(int uid, int gid, String groups) {
    /**
     * Tries each of these: opens a file, lists a directory, and looks whether either may be
     * executed, or entered.
     *
     * @param paths relative to the root
     * @return a line for each, with what was possible
     */
    List<String> tries(Sandbox sandbox, Path root, List<String> paths) {
      String script =
          "cd \"$0\" && while read -r name; do can=; if [ -d \"$name\" ]; then"
              + " for each in \"$name\"/*; do [ -e \"$each\" ] && can=r; done;"
              + " [ -x \"$name\" ] && can=${can}x;"
              + " else { true < \"$name\"; } 2>/dev/null && can=r;"
              + " [ -x \"$name\" ] && can=${can}x; fi;"
              + " echo \"$name $can\"; done";
      Path list = sandbox.folder("asked").resolve("paths");
      write(list, String.join("\n", paths) + "\n");
      return sandbox
          .command(
              "sh",
              "-c",
              "exec setpriv --reuid \"$1\" --regid \"$2\" --groups \"$3\" sh -c \"$4\" \"$5\" < \"$6\"",
              "sh",
              Integer.toString(uid),
              Integer.toString(gid),
              groups,
              script,
              root.toString(),
              list.toString())
          .mustSucceed()
          .out()
          .lines()
          .toList();
    }

    /** Tells whether a file can be read, or a directory listed and entered. */
    boolean can(Sandbox sandbox, Path root, String path) {
      return tries(sandbox, root, List.of(path)).get(0).matches(".* r.*");
    }

    private static void write(Path file, String text) {
      try {
        Files.writeString(file, text);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
