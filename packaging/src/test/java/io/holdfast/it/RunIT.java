package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code holdfast run}: what its command sees, and what the mount is asked. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
@Tag(Sandbox.ANY_BINDING)
class RunIT {
  private static final int FILES = 100;

  /** Opens each file twice, as jobs do, and asks itself whether one is a terminal. */
  private static final String PYTHON =
      """
      import os, sys
      for top, _, names in os.walk(sys.argv[1]):
          for name in names:
              with open(os.path.join(top, name), 'rb') as file:
                  file.read()
                  assert not file.isatty()
      """;

  /**
   * Prints what a process has from the one that started it; of signals those up to 32, since the C
   * library has 33 for itself. The shell has no pipe open when its descriptors are listed.
   */
  private static final String PRINT =
      """
      printf '%s\\n' "$@" | od -An -tx1
      env | grep -v '^_=' | sort
      ulimit -n
      ls -m /proc/$$/fd
      sed -nE 's/^(SigBlk|SigIgn):.*(.{8})$/\\1 \\2/p' /proc/self/status
      umask
      pwd
      readlink /proc/$$/fd/7
      """;

  /**
   * As a login shell may have it; words need not be text. Java has handlers of its own for the last
   * four signals, also where they were ignored, as services of systemd ignore SIGPIPE.
   */
  private static final String CALLER =
      """
      cd /usr; umask 027; ulimit -S -n 999; exec 7</etc/passwd; trap '' USR1 USR2 PIPE QUIT XFSZ
      LC_ALL=C; export LC_ALL
      exec "$@" sh -c "$print" sh 'a b' '' -h --mount -- @x "$(printf '\\377')" ''
      """;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void python_thatReadsResidents_asksTheMountNothing() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), FILES, i -> 5000);
    Mount mount =
        sandbox.mount(
            dataset.root(),
            "--capacity",
            "64M",
            "--count-opens",
            "watch",
            "--kernel-helpers",
            "off");
    String[] reading = {"python3", "-B", "-c", PYTHON, mount.mountpoint().toString()};
    sandbox.command(reading).mustSucceed();
    Stats before = mount.settledStats();
    sandbox.command(reading).mustSucceed();
    Stats without = mount.settledStats();

    List<String> words =
        new ArrayList<>(List.of(Sandbox.launcher(), "run", "--mount", mount.name(), "--"));
    words.addAll(List.of(reading));
    sandbox.command(words.toArray(String[]::new)).mustSucceed();

    assertThat(without.requests("IOCTL") - before.requests("IOCTL"))
        .as("questions of Python, without")
        .isGreaterThanOrEqualTo(FILES);
    HitsCostNothingIT.assertNothingAsked(without, mount.settledStats());
    assertThat(mount.settledStats().requests("IOCTL")).isEqualTo(without.requests("IOCTL"));
  }

  @Test
  void command_hasWhatTheCallerHad() {
    String plain = printed(List.of());

    assertThat(printed(List.of(Sandbox.launcher(), "run", "--"))).isEqualTo(plain);
    assertThat(plain).contains("999\n", "LC_ALL=C\n", "/usr\n", "0027\n", "/etc/passwd\n", " ff ");
  }

  private String printed(List<String> prefix) {
    List<String> words = new ArrayList<>(List.of("sh", "-c", CALLER, "sh"));
    words.addAll(prefix);
    return sandbox.run(Map.of("print", PRINT), words).mustSucceed().out();
  }

  @ParameterizedTest
  @CsvSource({
    "exit 7, 7, ''",
    "kill -TERM $$, 143, ''",
    "no-such-command-at-all, 127, sh: 1: no-such-command-at-all: not found",
  })
  void exitCode_isTheCommands(String script, int exit, String error) {
    Child.Result result = sandbox.holdfast("run", "--", "sh", "-c", script);
    assertThat(result.exit()).as("%s", result).isEqualTo(exit);
    assertThat(result.err().strip()).isEqualTo(error);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run | 2 | no command: give one behind --",
        "run -- | 2 | no command: give one behind --",
        "run true | 2 | 'true' is not expected: put -- before the command",
        "run x -- true | 2 | 'x' is not expected: put -- before the command",
        "run --mount nowhere -- true | 1 | 'nowhere' is no running Holdfast mount",
        "run -- no-such-command | 127 | 'no-such-command' is no command: check its name",
        "run -- /etc/passwd | 126 | '/etc/passwd' cannot be run: make it executable",
        "run -- /etc | 126 | '/etc' cannot be run",
      })
  void slip_isToldInOneLine(String words, int exit, String message) {
    Child.Result result = sandbox.holdfast(words.split(" "));
    assertThat(result.exit()).as("%s", result).isEqualTo(exit);
    assertThat(result.err()).startsWith("holdfast: ").contains(message);
    assertThat(result.err().lines()).hasSizeLessThanOrEqualTo(2);
  }

  /** The kernel takes filters of such a user only with no_new_privs. */
  @Test
  void command_ofAUserWithoutRights_isFilteredToo() {
    String look = "id -u; grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status";
    Child.Result result =
        sandbox.command(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            Sandbox.launcher(),
            "run",
            "--",
            "sh",
            "-c",
            look);
    assertThat(result.exit()).as("%s", result).isZero();
    assertThat(result.out()).isEqualTo("65534\nNoNewPrivs:\t1\nSeccomp:\t2\n");
  }

  @Test
  void filter_ofRoot_leavesSetUserIdProgramsTheirRights() {
    Child.Result result =
        sandbox.holdfast(
            "run", "--", "sh", "-c", "grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status");
    assertThat(result.out()).isEqualTo("NoNewPrivs:\t0\nSeccomp:\t2\n");
  }
}
