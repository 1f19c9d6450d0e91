package io.holdfast.fs.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Finds libfuse 2 without loading it, which would take longer than all else that a command does.
 * Looks where the dynamic linker looks. Stateless.
 */
final class Libfuse {
  private static final String LIBRARY = "libfuse.so.2";

  private Libfuse() {}

  /**
   * Tells whether the library is there.
   *
   * @param root the root directory
   * @param environment the environment variables
   */
  static boolean isInstalled(Path root, Map<String, String> environment) {
    for (Path directory : directories(root, environment)) {
      if (Files.exists(directory.resolve(LIBRARY))) {
        return true;
      }
    }
    return inCache(root);
  }

  private static List<Path> directories(Path root, Map<String, String> environment) {
    List<Path> directories = new ArrayList<>();
    for (String directory : environment.getOrDefault("LD_LIBRARY_PATH", "").split(":", -1)) {
      if (!directory.isEmpty()) {
        directories.add(Path.of(directory));
      }
    }
    for (String top : List.of("lib", "usr/lib", "lib64", "usr/lib64", "usr/local/lib")) {
      directories.add(root.resolve(top));
    }
    // Debian's and Ubuntu's directories per architecture, such as x86_64-linux-gnu.
    for (String top : List.of("lib", "usr/lib")) {
      try (DirectoryStream<Path> found =
          Files.newDirectoryStream(root.resolve(top), "*-linux-gnu*")) {
        found.forEach(directories::add);
      } catch (IOException e) {
        // Not laid out like that.
      }
    }
    return directories;
  }

  /** The linker's cache holds the paths of the libraries as strings that end with a NUL. */
  private static boolean inCache(Path root) {
    try {
      byte[] bytes = Files.readAllBytes(root.resolve("etc/ld.so.cache"));
      String cache = new String(bytes, StandardCharsets.ISO_8859_1);
      int found = cache.indexOf("/" + LIBRARY + "\0");
      if (found < 0) {
        return false;
      }
      String path = cache.substring(cache.lastIndexOf('\0', found) + 1, found);
      return Files.exists(root.resolve(path.substring(1)).resolve(LIBRARY));
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Returns a command that installs the library.
   *
   * @param release the lines of {@code /etc/os-release}
   */
  static String installation(List<String> release) {
    String id = value(release, "ID");
    String likes = " " + id + " " + value(release, "ID_LIKE") + " ";
    if (likes.contains(" debian ") || likes.contains(" ubuntu ")) {
      boolean renamed = version(release) >= (id.equals("ubuntu") ? 24.04 : 13);
      return "'apt install " + (renamed ? "libfuse2t64" : "libfuse2") + "'";
    }
    if (likes.contains(" rhel ") || likes.contains(" fedora ")) {
      return "'dnf install fuse-libs'";
    }
    return "your distribution's package of it (Debian: libfuse2, Ubuntu 24.04: libfuse2t64)";
  }

  private static double version(List<String> release) {
    try {
      return Double.parseDouble(value(release, "VERSION_ID"));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static String value(List<String> release, String key) {
    for (String line : release) {
      if (line.startsWith(key + "=")) {
        return line.substring(key.length() + 1).replace("\"", "").strip();
      }
    }
    return "";
  }
}
