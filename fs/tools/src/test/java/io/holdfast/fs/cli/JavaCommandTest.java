package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.host.CliException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JavaCommandTest {
  private static final String MAIN = "io.holdfast.fs.cli.Holdfast";

  private static final List<String> BEFORE =
      words("/old", "4g", "-Djavax.net.ssl.trustStore=/etc/a b", "-XX:+UseG1GC");

  private static List<String> words(String home, String heap, String... options) {
    List<String> words =
        new ArrayList<>(
            List.of(home + "/java", "-Xms64m", "-Xmx" + heap, "-Dholdfast.home=" + home));
    words.addAll(List.of(options));
    words.addAll(List.of("-cp", home + "/a.jar", MAIN));
    return words;
  }

  @Test
  void own_commandLine_endsWithTheMainClass() {
    List<String> all = List.of("java", "-Xmx1g", "-cp", "/a b:/c", MAIN, "mount", MAIN);
    assertThat(JavaCommand.own("/usr/bin/java", all))
        .containsExactly("/usr/bin/java", "-Xmx1g", "-cp", "/a b:/c", MAIN);
  }

  @Test
  void own_ofACommandThatCompilesLate_isThatOfADaemonThatDoesNot() {
    List<String> all =
        List.of("java", "-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=5", MAIN);
    assertThat(JavaCommand.own("/usr/bin/java", all))
        .containsExactly("/usr/bin/java", "-XX:TieredStopAtLevel=1", MAIN);
  }

  @Test
  void own_otherProgram_isRefused() {
    assertThatThrownBy(() -> JavaCommand.own("/usr/bin/java", List.of("java", "org.Other")))
        .isInstanceOf(CliException.class)
        .hasMessageContaining("--foreground");
  }

  @Test
  void isOurs_otherProcesses_isFalse() {
    assertThat(JavaCommand.isOurs(1)).isFalse();
    assertThat(JavaCommand.isOurs(Integer.MAX_VALUE)).isFalse();
  }

  private static List<String> daemon(List<String> program) {
    List<String> words = new ArrayList<>(program);
    words.addAll(List.of("serve", "/run/holdfast/n.state"));
    return words;
  }

  /**
   * An upgrade restarts daemons with nobody's environment: one with a heap of 4 GiB went on with
   * 512 MiB, and without its store of certificates.
   */
  @Test
  void next_callerSaysNothing_hasHeapAndOptionsOfTheOneBefore() {
    assertThat(JavaCommand.next(words("/new", "512m"), daemon(BEFORE), Map.of()))
        .isEqualTo(words("/new", "4g", "-Djavax.net.ssl.trustStore=/etc/a b", "-XX:+UseG1GC"));
  }

  /**
   * A launcher before put its own options behind the user's: a restart took them for the user's,
   * and each daemon that followed had the class archive of a program that was gone.
   */
  @Test
  void next_beforeIsOfTheLauncherWithOptionsBehindTheUsers_leavesThemOut() {
    List<String> before =
        words(
            "/usr/lib/holdfast.old/0.1.0.aB3dEf",
            "4g",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+LogEvents",
            "-XX:SharedArchiveFile=/srv/mine.jsa",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:ArchiveRelocationMode=0",
            "-Xshare:auto",
            "-XX:SharedArchiveFile=/usr/lib/holdfast.old/0.1.0.aB3dEf/lib/holdfast.jsa");

    assertThat(JavaCommand.next(words("/new", "512m"), daemon(before), Map.of()))
        .isEqualTo(
            words(
                "/new",
                "4g",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+LogEvents",
                "-XX:SharedArchiveFile=/srv/mine.jsa"));
    List<String> withoutOptions = words("/old", "4g", "-Xshare:auto");
    assertThat(JavaCommand.next(words("/new", "512m"), daemon(withoutOptions), Map.of()))
        .isEqualTo(words("/new", "4g"));
  }

  @Test
  void next_callerSaysOne_keepsTheOther() {
    List<String> own = words("/new", "1g", "-Dx=y");
    assertThat(JavaCommand.next(own, daemon(BEFORE), Map.of("HOLDFAST_HEAP", "1g")))
        .isEqualTo(words("/new", "1g", "-Djavax.net.ssl.trustStore=/etc/a b", "-XX:+UseG1GC"));
    assertThat(JavaCommand.next(own, daemon(BEFORE), Map.of("HOLDFAST_JAVA_OPTIONS", "-Dx=y")))
        .isEqualTo(words("/new", "4g", "-Dx=y"));
  }

  @Test
  void next_callerSaysThatThereAreNoOptions_hasNone() {
    Map<String, String> environment = Map.of("HOLDFAST_HEAP", "", "HOLDFAST_JAVA_OPTIONS", "");
    assertThat(JavaCommand.next(words("/new", "512m"), daemon(BEFORE), environment))
        .isEqualTo(words("/new", "4g"));
  }

  @Test
  void next_wordsOfNoLauncher_areTheProgramsAlone() {
    List<String> own = words("/new", "512m");
    assertThat(JavaCommand.next(own, List.of("sh", "-c", "x"), Map.of())).isEqualTo(own);
    assertThat(JavaCommand.next(List.of("false"), daemon(BEFORE), Map.of()))
        .containsExactly("false");
  }

  @Test
  void heapBytes_areThoseOfThisProcessInProportion() {
    long own = Runtime.getRuntime().maxMemory();
    List<String> words = words("/new", "512m");
    assertThat(JavaCommand.heapBytes(words, words)).isEqualTo(own);
    assertThat(JavaCommand.heapBytes(BEFORE, words)).isEqualTo(8 * own);
    assertThat(JavaCommand.heapBytes(words("/new", "512m", "-Xmx2G"), words)).isEqualTo(4 * own);
    assertThat(JavaCommand.heapBytes(List.of("false"), words)).isEqualTo(own);
  }
}
