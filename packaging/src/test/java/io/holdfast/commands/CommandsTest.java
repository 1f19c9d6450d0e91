package io.holdfast.commands;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code packaging/try} and {@code packaging/check}: help, packages, progress and summary; and what
 * every script does.
 */
class CommandsTest {
  private static final List<String> REPORT = List.of("lib.sh", "testreport.sh");
  private static final String NOTHING_IS_HERE = "find_jdk() { :; }; has() { false; }; ";

  @TempDir Path root;

  /** Returns the names of the scripts in whose text a pattern is found. */
  private static List<String> scriptsWith(String pattern) throws IOException {
    Predicate<String> condition = Pattern.compile(pattern).asPredicate();
    List<String> names = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Shell.PACKAGING)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String text = file.toString().contains("/target/") ? "" : text(file);
        if (text.startsWith("#!/bin/sh\n") && condition.test(text)) {
          names.add(Shell.PACKAGING.relativize(file).toString());
        }
      }
    }
    return names;
  }

  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), UTF_8);
  }

  private Shell.Result summary(String built) {
    return Shell.run(
        REPORT, "root=$1; summarize \"$1/check.log\" 12 \"$2\"", root.toString(), built);
  }

  private void report(String module, String kind, String suite, String body) throws IOException {
    Path folder = Files.createDirectories(root.resolve(module + "/target/" + kind + "-reports"));
    Files.writeString(
        folder.resolve("TEST-" + suite + ".xml"),
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuite version="3.0.2" name="%s" time="1.5" %s
        </testsuite>
        """
            .formatted(suite, body));
  }

  private void passing(String kind) throws IOException {
    report(
        "fs",
        kind,
        "io.holdfast.Passing" + kind,
        """
        tests="3" errors="0" skipped="0" failures="0">
          <testcase name="one" classname="io.holdfast.Passing" time="0.1">
            <system-out><![CDATA[ERROR i.h.f.Daemon - a bug
            <failure message="only printed">]]></system-out>
          </testcase>""");
  }

  @ParameterizedTest
  @ValueSource(strings = {"try", "check"})
  void help_isTheHeadOfTheScript_andNothingIsDone(String command) {
    Shell.Result help = Shell.run(List.of(Shell.PACKAGING.resolve(command).toString(), "--help"));

    assertThat(help.exit()).isZero();
    assertThat(help.output()).startsWith("usage: packaging/" + command).contains("as root");
    assertThat(help.output()).doesNotContain("#").doesNotContain("set -eu");
  }

  @ParameterizedTest
  @ValueSource(strings = {"try", "check"})
  void option_thatIsNotThere_isRefused(String command) {
    Shell.Result refused =
        Shell.run(List.of(Shell.PACKAGING.resolve(command).toString(), "--nonsense"));

    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.output()).contains("usage: packaging/" + command).hasLineCount(1);
  }

  @Test
  void try_installsOnlyWhatABuildAndAMountNeed() {
    assertThat(Shell.run(List.of("lib.sh"), NOTHING_IS_HERE + "missing_packages").output().lines())
        .containsExactly("openjdk-17-jdk-headless", "maven");
    assertThat(Shell.PACKAGING.resolve("try")).content().containsPattern("(?m)^install_packages$");
    assertThat(
            Shell.run(List.of("lib.sh"), NOTHING_IS_HERE + "missing_packages tests")
                .output()
                .lines())
        .contains("openjdk-17-jdk-headless", "maven", "fuse3", "zsh", "fio");
  }

  @Test
  void scripts_thatBuild_installWhatABuildNeeds() throws IOException {
    assertThat(scriptsWith("\n *install_packages\\b"))
        .containsAll(scriptsWith("\n *build\n"))
        .contains("try", "deb/build");
  }

  /** The launcher takes all jars in one directory, and a build left those of an older version. */
  @Test
  void build_removesTheJarsOfTheLastOne_beforeItCopiesItsOwn() throws IOException {
    assertThat(text(Shell.PACKAGING.resolve("pom.xml")))
        .containsSubsequence(
            "<id>old-jars</id>",
            "<phase>prepare-package</phase>",
            "<goal>clean</goal>",
            "<directory>${holdfast.home}/lib</directory>",
            "<id>jars</id>",
            "<phase>prepare-package</phase>",
            "<goal>copy-dependencies</goal>");
  }

  /** dash runs no trap of EXIT at a signal: scripts that trapped only EXIT left files in /tmp. */
  @Test
  void scripts_cleanUpAtASignal_inOneWay() throws IOException {
    String other = "src/main/dist/bin/holdfast-class-archive";
    assertThat(scriptsWith("\\btrap .* EXIT\\b")).containsExactly(other);
    assertThat(text(Shell.PACKAGING.resolve(other)))
        .contains("trap 'exit 130' INT\ntrap 'exit 143' TERM\ntrap 'exit 129' HUP\n");
  }

  @ParameterizedTest
  @CsvSource({"TERM, 143", "HUP, 129"})
  void signal_endsAScript_andRemovesWhatItMade(String signal, int exit) throws IOException {
    Path log = Files.createFile(root.resolve("log"));
    Path made = Files.createFile(root.resolve("made"));

    Shell.Result ended =
        Shell.run(
            List.of("lib.sh"),
            "log=$2; made=$3; clean_up() { false; rm -- \"$made\"; false; }; "
                + "clean_up_at_end clean_up; kill -s \"$1\" $$; echo goes on",
            signal,
            log.toString(),
            made.toString());

    assertThat(ended).isEqualTo(new Shell.Result(exit, ""));
    assertThat(log).doesNotExist();
    assertThat(made).doesNotExist();
  }

  @Test
  void end_keepsItsExitCode_whateverFailsInTheCleaning() {
    assertThat(
            Shell.run(
                List.of("lib.sh"),
                "clean_up() { false; echo cleaned; false; }; clean_up_at_end clean_up; exit 3"))
        .isEqualTo(new Shell.Result(3, "cleaned\n"));
  }

  /** With CDPATH, cd prints where it went, and goes elsewhere. */
  @Test
  void scripts_findThemselves_whateverCdpathIs() throws IOException {
    assertThat(scriptsWith("\\$\\(cd (-P )?-- \"?\\$[({1]")).isEmpty();
    Shell.Result help = Shell.run(List.of("sh", "-c", "cd ..; CDPATH=$PWD packaging/try --help"));
    assertThat(help.output()).startsWith("usage: packaging/try");
  }

  @Test
  void launcher_findsItsHome_whateverCdpathIs() throws IOException {
    Files.createDirectories(root.resolve("home/bin"));
    Files.createDirectories(root.resolve("java/bin"));
    Files.copy(
        Shell.PACKAGING.resolve("src/main/dist/bin/holdfast"),
        root.resolve("home/bin/holdfast"),
        StandardCopyOption.COPY_ATTRIBUTES);
    Files.writeString(root.resolve("java/release"), "JAVA_VERSION=\"17.0.1\"\n");
    Path java = Files.writeString(root.resolve("java/bin/java"), "#!/bin/sh\necho \"$@\"\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));

    Shell.Result started =
        Shell.run(
            List.of(
                "sh",
                "-c",
                "cd -- \"$1/home\"; CDPATH=$1/home JAVA_HOME=$1/java bin/holdfast version",
                "sh",
                root.toString()));

    assertThat(started.output())
        .hasLineCount(1)
        .contains(" -Djffi.boot.library.path=" + root.resolve("home/lib/native/"));
  }

  @Test
  void progress_withoutATerminal_isSparse_andNamesWhatFailed() throws IOException {
    String output =
        """
        [INFO] Building Holdfast: the filesystem 0.1.0-SNAPSHOT    [5/6]
        [INFO] --- maven-surefire-plugin:3.6.1:test (default-test) @ holdfast-fs-core ---
        [INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.5 s -- in io.holdfast.ATest
        17:00:00 ERROR i.h.f.Daemon - a bug
        java.lang.IllegalStateException: of a passing test
        [ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.5 s <<< FAILURE! -- in io.holdfast.BTest
        [ERROR] io.holdfast.BTest.reads -- Time elapsed: 0.1 s <<< FAILURE!

        org.opentest4j.AssertionFailedError: expected 1 but was 2
        \tat io.holdfast.BTest.reads(BTest.java:17)
        [INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.5 s -- in io.holdfast.CTest
        17:00:00 ERROR i.h.f.Daemon - another bug
        [ERROR] Tests run: 8, Failures: 1, Errors: 0, Skipped: 0
        """;
    Path log = root.resolve("check.log");
    Path printed = Files.writeString(root.resolve("printed"), output);

    String shown =
        Shell.run(REPORT, "show_progress \"$1\" 0 <\"$2\"", log.toString(), printed.toString())
            .output();
    String drawn =
        Shell.run(REPORT, "show_progress \"$1\" 60 <\"$2\"", log.toString(), printed.toString())
            .output();

    assertThat(log).hasContent(output);
    assertThat(shown.lines().map(CommandsTest::withoutTime))
        .containsExactly(
            " M:SS  0 tests, 0 classes failed; building",
            "FAILED: io.holdfast.BTest (tests without a mount)",
            "  | io.holdfast.BTest.reads -- Time elapsed: 0.1 s <<< FAILURE!",
            "  | org.opentest4j.AssertionFailedError: expected 1 but was 2");
    assertThat(drawn).contains("FAILED: io.holdfast.BTest").doesNotContain("a bug");
    assertThat(drawn.split("\r\u001b\\[K", -1))
        .anySatisfy(
            line ->
                assertThat(withoutTime(line))
                    .isEqualTo(" M:SS  8 tests, 1 classes failed; tests without a mount"))
        .allSatisfy(line -> assertThat(line.lines().findFirst().orElse("")).hasSizeLessThan(80));
  }

  private static String withoutTime(String line) {
    return line.replaceFirst("^ \\d:\\d\\d", " M:SS");
  }

  @Test
  void summary_ofPassingTests_saysSo() throws IOException {
    passing("surefire");
    passing("failsafe");

    Shell.Result summary = summary("yes");

    assertThat(summary.exit()).isZero();
    assertThat(summary.output().lines())
        .contains("6 tests ran in 12 s: 3 without a mount, 3 on real mounts; 0 failed, 0 skipped.")
        .endsWith("All passed.");
  }

  @Test
  void summary_ofFailures_endsWithTheirNames_andShowsTheBeginningAndTheEndOfEach()
      throws IOException {
    passing("surefire");
    String stack = "\tat io.holdfast.Deep.call(Deep.java:1)\n".repeat(100);
    report(
        "fs",
        "surefire",
        "io.holdfast.BrokenTest",
        """
        tests="2" errors="1" skipped="0" failures="1">
          <testcase name="sum_ofTwo_isThree" classname="io.holdfast.BrokenTest" time="0.1">
            <failure message="&#10;expected: &quot;3&quot;" type="X"><![CDATA[X:\s
        expected: "3"
         but was: "2 < 3 & more"
        """
            + stack
            + "a step\n".repeat(100)
            + """
        Caused by: a wrong byte
        ]]></failure>
            <system-out><![CDATA[noise]]></system-out>
          </testcase>
          <testcase name="" classname="io.holdfast.BrokenTest" time="0.1">
            <error type="Y">java.io.IOException: a &lt;tag&gt; &amp; more</error>
          </testcase>""");
    report(
        "packaging",
        "failsafe",
        "io.holdfast.MountIT-kernel",
        """
        tests="9" errors="0" skipped="0" failures="1">
          <testcase name="mount_isThere[1]" classname="io.holdfast.MountIT" time="0.1">
            <failure message="only a message" type="Z"/>
          </testcase>""");

    Shell.Result summary = summary("");

    assertThat(summary.exit()).isEqualTo(1);
    assertThat(summary.output())
        .contains("io.holdfast.BrokenTest.sum_ofTwo_isThree\n    X:")
        .contains("     but was: \"2 < 3 & more\"\n")
        .contains("io.holdfast.BrokenTest\n    java.io.IOException: a <tag> & more\n")
        .contains("io.holdfast.MountIT.mount_isThere[1]\n    only a message\n")
        .doesNotContain("only printed")
        .doesNotContain("noise")
        .endsWith(
            """
            Failed:
              io.holdfast.BrokenTest.sum_ofTwo_isThree
              io.holdfast.BrokenTest
              io.holdfast.MountIT.mount_isThere[1]
            """);
    assertThat(summary.output().lines().filter(line -> line.contains("Deep.call"))).hasSize(1);
    assertThat(summary.output().lines().filter(line -> line.contains("a step"))).hasSize(11);
    assertThat(summary.output())
        .contains("a step\n    ...\n    a step")
        .contains("Caused by: a wrong");
    assertThat(summary.output()).contains("14 tests ran in 12 s: 5 without a mount, 9 on real");
  }

  @Test
  void summary_ofABuildThatFailed_showsTheEndOfItsOutput() throws IOException {
    Files.writeString(root.resolve("check.log"), "[ERROR] Daemon.java:[7,1] ';' expected\n");

    Shell.Result summary = summary("");

    assertThat(summary.exit()).isEqualTo(1);
    assertThat(summary.output())
        .contains("[ERROR] Daemon.java:[7,1] ';' expected")
        .contains("All of Maven's output: " + root.resolve("check.log"))
        .endsWith("Failed: the build, see above\n");
  }

  @Test
  void summary_withoutAMount_isNoSuccess() throws IOException {
    passing("surefire");

    assertThat(summary("yes"))
        .satisfies(summary -> assertThat(summary.exit()).isEqualTo(1))
        .satisfies(
            summary -> assertThat(summary.output()).endsWith("no test ran on a real mount\n"));
  }
}
