package io.holdfast.fs.host;

import io.holdfast.fs.linux.Exec;
import io.holdfast.fs.linux.Linux;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The state of the process before the launcher script prepared it for Java. A command of the user
 * gets it back. Immutable.
 *
 * @param variables of those that the launcher sets, the ones that were set before
 * @param files how many files could be open, if that is known and was bounded
 * @param descriptors what was open, if that is known
 * @param ignored the signals that were ignored, a bit for each from signal 1 on; Java has handlers
 *     for some of them, which the kernel would set to their defaults for a command
 */
record Caller(
    Map<String, String> variables, OptionalLong files, Set<Integer> descriptors, long ignored) {
  /** A line for each variable, NAME=VALUE, for the limit, the descriptors and the signals. */
  private static final String VARIABLE = "HOLDFAST_CALLER";

  private static final String FILES = "files";
  private static final String DESCRIPTORS = "descriptors";
  private static final String IGNORED = "ignored";
  private static final int HEX = 16;

  private static final Set<String> SET_BY_LAUNCHER =
      Set.of(
          "LC_ALL",
          "MALLOC_ARENA_MAX",
          "MALLOC_TRIM_THRESHOLD_",
          "MALLOC_MMAP_THRESHOLD_",
          "MALLOC_TOP_PAD_");

  /** Reads what the launcher has told; null where it has told nothing and so changed nothing. */
  static @Nullable Caller of(Map<String, String> environment) {
    String told = environment.get(VARIABLE);
    if (told == null) {
      return null;
    }
    Map<String, String> variables = new LinkedHashMap<>();
    OptionalLong files = OptionalLong.empty();
    Set<Integer> descriptors = new TreeSet<>();
    long ignored = 0;
    for (String line : told.split("\n", -1)) {
      String[] pair = line.split("=", 2);
      if (pair.length < 2) {
        continue;
      }
      if (SET_BY_LAUNCHER.contains(pair[0])) {
        variables.put(pair[0], pair[1]);
      } else if (pair[0].equals(FILES) && isNumber(pair[1])) {
        files = OptionalLong.of(Long.parseLong(pair[1]));
      } else if (pair[0].equals(IGNORED) && pair[1].matches("[0-9a-f]{1,16}")) {
        ignored = Long.parseUnsignedLong(pair[1], HEX);
      } else if (pair[0].equals(DESCRIPTORS)) {
        for (String word : pair[1].split(" ", -1)) {
          if (isNumber(word)) {
            descriptors.add(Integer.parseInt(word));
          }
        }
      }
    }
    return new Caller(variables, files, descriptors, ignored);
  }

  private static boolean isNumber(String text) {
    return text.matches("[0-9]{1,9}");
  }

  /** Undoes in the environment of a new process what the launcher has changed. */
  void restore(Map<String, String> environment) {
    environment.remove(VARIABLE);
    environment.keySet().removeAll(SET_BY_LAUNCHER);
    environment.putAll(variables);
  }

  /** The same for what this process becomes, with the limit of open files and ignored signals. */
  void restore() {
    Exec.setVariable(VARIABLE, null);
    for (String name : SET_BY_LAUNCHER) {
      String value = variables.get(name);
      Exec.setVariable(name, value == null ? null : Linux.pathBytes(value));
    }
    files.ifPresent(Exec::setFileLimit);
    Exec.ignoreSignals(ignored);
  }
}
