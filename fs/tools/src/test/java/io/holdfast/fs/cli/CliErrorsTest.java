package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.host.FakeHost;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong words on the command line, and help. */
class CliErrorsTest {
  @TempDir Path temp;
  private CliRun run;

  @BeforeEach
  void prepare() {
    run = new CliRun(new FakeHost(temp.resolve("run")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      value = {
        "--capcity 64G /a /b => unknown option '--capcity': did you mean '--capacity'?",
        "--capcity=64G /a => unknown option '--capcity': did you mean '--capacity'?",
        "--capcity => unknown option '--capcity': did you mean '--capacity'?",
        "--no-allow-others /a => unknown option '--no-allow-others': did you mean"
            + " '--no-allow-other'?",
        "--verbose /a => unknown option '--verbose'.",
        "-x /a => unknown option '-x'.",
        "--repor /a => unknown option '--repor'.",
        "--capacity => --capacity needs a value: SIZE|P%.",
        "--foreground=3 /a => invalid value for option '--foreground': '3' is not a boolean.",
        "/a /b /c => too many arguments: '/c' is not expected."
      })
  void mount_wrongWords_areOneLineWithAHint(String words, String message) {
    String[] arguments = ("mount " + words).split(" ", -1);
    assertThat(run.run(arguments)).isEqualTo(2);
    assertThat(run.err.toString())
        .startsWith("holdfast: " + message)
        .endsWith("See 'holdfast mount --help'\n")
        .hasLineCount(1);
    assertThat(run.out.toString()).isEmpty();
  }

  /** The parser would take the last value and forget the other options of the same heading. */
  @Test
  void mount_optionTwice_isUsage() {
    assertThat(run.run("mount", "--capacity=1G", "--pin=hard", "--pin=soft", "/a")).isEqualTo(2);
    assertThat(run.err.toString())
        .isEqualTo("holdfast: --pin is given more than once: give it once\n");
    assertThat(run.run("mount", "--log-level=info", "--foreground", "--log-level=warn", "/a"))
        .isEqualTo(2);
  }

  @Test
  void mount_withoutSource_saysWhatIsMissing() {
    assertThat(run.run("mount")).isEqualTo(2);
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: missing SOURCE: give it, or --name NAME of a mount that has a file. See"
                + " 'holdfast mount --help'\n");
  }

  @Test
  void mount_emptySource_isUsage() {
    assertThat(run.run("mount", "")).isEqualTo(2);
    assertThat(run.err.toString()).isEqualTo("holdfast: SOURCE is empty: give a directory\n");
  }

  @Test
  void command_mistyped_isSuggested() {
    assertThat(run.run("mout", "/a")).isEqualTo(2);
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: unknown command 'mout': did you mean 'mount'? See 'holdfast --help'\n");
  }

  @Test
  void command_unknown_isTold() {
    assertThat(run.run("frobnicate")).isEqualTo(2);
    assertThat(run.err.toString())
        .isEqualTo("holdfast: unknown command 'frobnicate'. See 'holdfast --help'\n");
  }

  @Test
  void command_none_namesAll() {
    assertThat(run.run()).isEqualTo(2);
    assertThat(run.err.toString())
        .startsWith("holdfast: no command: choose one of mount, umount, stats, ")
        .contains(", simulate, ")
        .endsWith(", version. See 'holdfast --help'\n");
  }

  @Test
  void topOption_unknown_isTold() {
    assertThat(run.run("--vesion")).isEqualTo(2);
    assertThat(run.err.toString()).contains("did you mean '--version'?").hasLineCount(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"mount", "umount", "stats", "top", "bench", "refresh", "simulate", "version"})
  void help_ofEachCommand_hasHeadingsAndExamples(String command) {
    assertThat(run.run(command, "--help")).isZero();
    assertThat(run.out.toString())
        .contains("Usage: holdfast " + command)
        .contains("Options:\n")
        .contains("\nExamples:\n  holdfast ")
        .doesNotContain("%%");
    assertThat(run.out.toString().lines())
        .allSatisfy(line -> assertThat(line.length()).isLessThan(81));
    assertThat(run.err.toString()).isEmpty();
  }

  @Test
  void help_ofMount_namesEveryDefault() {
    run.run("mount", "--help");
    String help = run.out.toString().replaceAll("\\s+", " ");
    assertThat(help)
        .contains(
            "Default: 50%",
            "Default: 80%",
            "Default: minio",
            "Default: 8M",
            "Default: auto",
            "Default: 256M",
            "Default: 64M",
            "Default: 2s",
            "Default: 1h",
            "Default: info");
  }

  @Test
  void help_ofTheProgram_listsTheCommands() {
    assertThat(run.run("--help")).isZero();
    assertThat(run.out.toString())
        .contains("  mount ", "  umount ", "  stats ", "  refresh ", "  simulate ", "  version ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"version", "--version", "-V"})
  void version_anyWay_isPrinted(String word) {
    assertThat(run.run(word)).isZero();
    assertThat(run.out.toString()).matches("holdfast \\S+ \\(Java .*, Linux .*\\)\n");
  }

  @Test
  void failure_ofTheDaemon_isOneLineAndCouldNot() throws Exception {
    run.daemon.failure = new FsException(FsError.UNAVAILABLE, "what: do\nthis");
    Path source = Files.createDirectory(temp.resolve("s"));
    assertThat(run.run("mount", "--foreground", "--binding=jnr-fuse", source.toString()))
        .isEqualTo(1);
    assertThat(run.err.toString()).isEqualTo("holdfast: what: do\\nthis\n");
  }
}
