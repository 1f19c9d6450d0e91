package io.holdfast.fs.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command that started this process, to start another one of the same kind. Stateless. */
final class OwnCommand {
  private static final String MAIN = Holdfast.class.getName();

  private OwnCommand() {}

  /** Returns the words up to the main class: the same Java, options and class path. */
  static List<String> words() {
    try {
      byte[] bytes = Files.readAllBytes(Path.of("/proc/self/cmdline"));
      String java = Path.of("/proc/self/exe").toRealPath().toString();
      return words(java, new String(bytes, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw CliException.couldNot("/proc/self cannot be read: mount /proc", e);
    }
  }

  /** The same for a command line as the kernel shows it: words that each end with a NUL. */
  static List<String> words(String java, String commandLine) {
    List<String> words = new ArrayList<>();
    words.add(java);
    String[] all = commandLine.split("\0", -1);
    for (int i = 1; i < all.length; i++) {
      words.add(all[i]);
      if (all[i].equals(MAIN)) {
        return words;
      }
    }
    throw CliException.couldNot(
        "the daemon's process cannot be started from here: use --foreground, or bin/holdfast");
  }

  /** Returns the words of a running process. */
  static List<String> wordsOf(long pid) throws IOException {
    byte[] bytes = Files.readAllBytes(Path.of("/proc/" + pid + "/cmdline"));
    String text = new String(bytes, StandardCharsets.UTF_8);
    // each word ends with a NUL
    return List.of(text.substring(0, Math.max(0, text.length() - 1)).split("\0", -1));
  }

  /** Tells whether a process runs this program. */
  static boolean isOurs(long pid) {
    try {
      return wordsOf(pid).contains(MAIN);
    } catch (IOException e) {
      return false;
    }
  }
}
