package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A mount in the background belongs to no terminal and no script: what the user types there, and
 * what ends the script, once took the dataset away.
 */
class BackgroundMountIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** The character that a terminal sends for Ctrl-C. */
  private static final String CTRL_C = "\u0003";

  /**
   * Says what comes, and goes on; ends with its terminal. Descriptor 5 is not for others. A signal
   * that comes just before a command begins is told when that has ended: so they are short. And
   * they run in the background: of a shell that waits for its child to become another program
   * (vfork) nobody sees that it is stopped.
   */
  private static final String SCRIPT =
      """
      trap 'echo interrupted' INT; trap 'echo terminated' TERM; exec 5<"$0"; cd "$1"; shift
      "$@"; echo "mounted by $$."; while :; do sleep 0.2 & wait; done
      """;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void scriptAndTerminal_interruptedStoppedAndClosed_mountGoesOn() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 5, i -> 1000);
    Path script = Files.writeString(sandbox.root().resolve("script"), SCRIPT);
    Mount mount = sandbox.declare(dataset.root());
    // a shell cannot tell of signals that were ignored when it began, as in the background
    String heard = "--default-signal=HUP,INT,TERM";
    List<String> words = new ArrayList<>(List.of("exec", "env", heard, "sh", script.toString()));
    words.add(sandbox.folder("directory").toString());
    words.addAll(mount.command("--capacity", "64M"));

    Child terminal =
        sandbox.start("script", "--quiet", "--command", String.join(" ", words), "/dev/null");
    awaitOutput(terminal, "mounted by ");
    mount.started(new Child.Result(words, 0, terminal.out(), "", Duration.ZERO));
    long shell = Long.parseLong(terminal.out().replaceAll("(?s).*mounted by (\\d+)[.].*", "$1"));

    long daemon = mount.pid();
    assertApart(daemon, shell);
    if (mount.supervisor() != 0) {
      assertApart(mount.supervisor(), shell);
    }
    terminal.tell(CTRL_C);
    awaitOutput(terminal, "interrupted");
    Posix.killGroup(shell, Posix.SIGTERM);
    awaitOutput(terminal, "terminated");
    Posix.killGroup(shell, Posix.SIGSTOP);
    Await.until(DEADLINE, "the script stopped", () -> ProcessTable.state(shell) == 'T');
    assertThat(mount.path(dataset.files().get(0))).exists();
    Posix.killGroup(shell, Posix.SIGCONT);
    terminal.signal(Posix.SIGKILL);
    Await.until(DEADLINE, "the script ended", () -> ProcessTable.state(shell) == 'X');

    assertThat(mount.daemonIsAlive()).isTrue();
    assertThat(mount.stats().at("name")).isEqualTo(mount.name());
    assertThat(mount.path(dataset.files().get(1))).isNotEmptyFile();
    mount.umount().mustSucceed();
  }

  /** The second one took the first one's daemon, and the first mount never came. */
  @Test
  void twoCommands_ofOneNameAtOnce_oneMounts() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 5, i -> 1000);
    Mount mount = sandbox.declare(dataset.root());
    Path elsewhere = sandbox.folder("elsewhere");
    List<String> first = mount.command("--capacity", "64M");
    List<String> second = new ArrayList<>(first);
    second.replaceAll(word -> word.equals(mount.mountpoint().toString()) ? "" + elsewhere : word);

    Child one = sandbox.start(Map.of(), first);
    Child other = sandbox.start(Map.of(), second);
    List<Child.Result> results = List.of(one.await(DEADLINE), other.await(DEADLINE));

    List<Child.Result> refused = results.stream().filter(each -> each.exit() != 0).toList();
    assertThat(refused).hasSize(1);
    assertThat(refused.get(0).exit()).isEqualTo(1);
    assertThat(refused.get(0).err()).containsOnlyOnce("holdfast: ").contains("--name");
    Path mounted = results.get(0).exit() == 0 ? mount.mountpoint() : elsewhere;
    assertThat(mounted.resolve(dataset.files().get(0))).isNotEmptyFile();
    assertThat(MountTable.holdfastAt(mount.mountpoint()))
        .hasSize(mounted.equals(elsewhere) ? 0 : 1);
    sandbox.holdfast("umount", mounted.toString()).mustSucceed();
  }

  private static void awaitOutput(Child child, String text) {
    Await.until(DEADLINE, text, () -> child.out().contains(text));
  }

  /** Fails where a signal to the script or its terminal could reach a process. */
  private static void assertApart(long pid, long shell) throws IOException {
    List<Long> session = ProcessTable.session(pid);
    assertThat(session.get(0)).as("session").isNotEqualTo(ProcessTable.session(shell).get(0));
    assertThat(session.get(1)).as("terminal").isZero();
    assertThat(Files.readSymbolicLink(Path.of("/proc/" + pid + "/cwd"))).hasToString("/");
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        assertThat(target(descriptor)).doesNotStartWith("/dev/pts/").doesNotEndWith("/script");
      }
    }
  }

  /** Returns the target of a descriptor; empty if it has been closed meanwhile. */
  private static String target(Path descriptor) throws IOException {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException e) {
      return "";
    }
  }
}
