package io.holdfast.fs.cli;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * The words that start a Java of this program, as {@code bin/holdfast} puts them together:
 *
 * <pre>
 * java -Xmx512m ... -Dholdfast.home=/usr/lib/holdfast  the program's: Java, heap, archive
 * -Djavax.net.ssl.trustStore=...                       the user's, of HOLDFAST_JAVA_OPTIONS
 * -cp ... io.holdfast.fs.cli.Holdfast                  the program's again: what is started
 * serve /run/holdfast/imagenet.state                   what a command or daemon is told
 * </pre>
 *
 * <p>Immutable.
 *
 * @param program the first part
 * @param user the second part
 * @param main the third part
 */
record JavaCommand(List<String> program, List<String> user, List<String> main) {
  private static final String MAIN = Holdfast.class.getName();

  /** The launcher gives it to commands, which end soon. A daemon compiles as soon as it can. */
  private static final String LATE_COMPILING = "-XX:CompileThresholdScaling=5";

  private static final String HOME = "-Dholdfast.home=";
  private static final String HEAP = "-Xmx";

  private static final String HEAP_VARIABLE = "HOLDFAST_HEAP";
  private static final String OPTIONS_VARIABLE = "HOLDFAST_JAVA_OPTIONS";

  /** Options that the launcher once put between the user's and the class path. */
  private static final Pattern MISPLACED =
      Pattern.compile(
          "--enable-native-access=ALL-UNNAMED|--sun-misc-unsafe-memory-access=allow"
              + "|-XX:\\+UnlockDiagnosticVMOptions|-XX:ArchiveRelocationMode=0"
              + "|-Xshare:auto|-XX:SharedArchiveFile=.*/lib/holdfast\\.jsa");

  /** The letters of Java's units; each is 1024 times the one before. */
  private static final String UNITS = "kmgt";

  private static final int UNIT_BITS = 10;

  /**
   * Returns the words that start another process of this program: the same Java, options and class
   * path, up to the main class.
   */
  static List<String> own() {
    try {
      return own(
          Path.of("/proc/self/exe").toRealPath().toString(),
          Procfs.host().commandLine(Procfs.SELF));
    } catch (IOException e) {
      throw CliException.couldNot("/proc/self cannot be read: mount /proc", e);
    }
  }

  /** The same of the words that a Java was started with. */
  static List<String> own(String java, List<String> all) {
    List<String> words = new ArrayList<>();
    words.add(java);
    for (String word : all.subList(Math.min(1, all.size()), all.size())) {
      if (!word.equals(LATE_COMPILING)) {
        words.add(word);
      }
      if (word.equals(MAIN)) {
        return words;
      }
    }
    throw CliException.couldNot(
        "the daemon's process cannot be started from here: use --foreground, or bin/holdfast");
  }

  /** Tells whether a process runs this program. */
  static boolean isOurs(long pid) {
    return Procfs.host().commandLine(Long.toString(pid)).contains(MAIN);
  }

  /** Finds the parts; empty for words that the launcher has not put together. */
  private static Optional<JavaCommand> of(List<String> words) {
    int behindProgram = 0;
    while (behindProgram < words.size() && !words.get(behindProgram).startsWith(HOME)) {
      behindProgram++;
    }
    behindProgram++;
    int end = words.indexOf(MAIN) + 1;
    int main = end - 3; // -cp, the class path, the class
    if (behindProgram > main) {
      return Optional.empty();
    }
    int behindUser = main;
    while (behindUser > behindProgram && isMisplaced(words.get(behindUser - 1))) {
      behindUser--;
    }
    return Optional.of(
        new JavaCommand(
            List.copyOf(words.subList(0, behindProgram)),
            List.copyOf(words.subList(behindProgram, behindUser)),
            List.copyOf(words.subList(main, end))));
  }

  private static boolean isMisplaced(String word) {
    return MISPLACED.matcher(word).matches();
  }

  /**
   * Returns the words that start a daemon of another program, with the heap and the user's options
   * of a daemon before, unless the caller's environment says others.
   *
   * @param program the words that start another process of the program
   * @param before the words that started the daemon before
   */
  static List<String> next(
      List<String> program, List<String> before, Map<String, String> environment) {
    Optional<JavaCommand> own = of(program);
    Optional<JavaCommand> was = of(before);
    if (own.isEmpty() || was.isEmpty()) {
      return program;
    }
    boolean saysHeap = !environment.getOrDefault(HEAP_VARIABLE, "").isEmpty();
    boolean saysOptions = environment.containsKey(OPTIONS_VARIABLE);
    List<String> words = new ArrayList<>();
    for (String word : own.get().program) {
      words.add(!saysHeap && word.startsWith(HEAP) ? was.get().heapWord().orElse(word) : word);
    }
    words.addAll(saysOptions ? own.get().user : was.get().user);
    words.addAll(own.get().main);
    return words;
  }

  private Optional<String> heapWord() {
    return program.stream().filter(word -> word.startsWith(HEAP)).findFirst();
  }

  /**
   * Returns the most bytes of the heap of a process with these words, as this process's words and
   * heap tell: Java leaves a part of what its option says out of the count.
   *
   * @param own the words that start another process of this program
   */
  static long heapBytes(List<String> words, List<String> own) {
    long bytes = Runtime.getRuntime().maxMemory();
    OptionalLong other = heap(words);
    OptionalLong ofOwn = heap(own);
    return other.isEmpty() || ofOwn.isEmpty()
        ? bytes
        : (long) (bytes * ((double) other.getAsLong() / ofOwn.getAsLong()));
  }

  /** Returns what the last of the options for the heap says, which is the one that holds. */
  private static OptionalLong heap(List<String> words) {
    return words.stream()
        .filter(word -> word.matches(HEAP + "[1-9][0-9]{0,11}[kKmMgGtT]?"))
        .mapToLong(word -> bytes(word.substring(HEAP.length()).toLowerCase(Locale.ROOT)))
        .reduce((first, last) -> last);
  }

  private static long bytes(String text) {
    int last = text.length() - 1;
    int unit = UNITS.indexOf(text.charAt(last)) + 1;
    String number = unit == 0 ? text : text.substring(0, last);
    return Long.parseLong(number) << (unit * UNIT_BITS);
  }
}
