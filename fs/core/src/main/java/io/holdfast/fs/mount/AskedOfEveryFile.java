package io.holdfast.fs.mount;

import io.holdfast.fs.origin.OriginPath;
import java.util.Set;

/**
 * The extended attributes that {@code ls -l} and its like ask of every file: access control lists
 * and SELinux's labels. A filesystem that has no such thing answers so, and they never ask it
 * again; one that only has none for this file is asked for the next file too, with a message each.
 * Nothing here enforces them, so of a file without them the first is the answer. Stateless.
 */
final class AskedOfEveryFile {
  private static final Set<OriginPath> NAMES =
      Set.of(
          OriginPath.of("security.selinux"),
          OriginPath.of("system.posix_acl_access"),
          OriginPath.of("system.posix_acl_default"));

  private AskedOfEveryFile() {}

  static boolean contains(byte[] name) {
    return NAMES.contains(OriginPath.of(name));
  }
}
