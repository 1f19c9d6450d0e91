package io.holdfast.fs.mount;

import io.holdfast.fs.origin.OriginPath;
import java.util.Set;

/**
 * The extended attributes that {@code ls -l} and its like ask of every file: access control lists
 * and SELinux's labels. If a filesystem answers that it has no such thing, these programs never ask
 * it again. If it answers that this one file has none, they ask for the next file too, with a
 * message each. Nothing here enforces such attributes, so for a file without them the daemon gives
 * the first answer. Stateless.
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
