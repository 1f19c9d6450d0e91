package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * In a container {@code /run} is small. A listing is whole then as well, also under the next
 * daemon, or an error. Everything happens in a mount namespace of its own.
 */
@Tag(Sandbox.ANY_BINDING)
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SmallRunIT {
  private static final int DIRECTORIES = 60;
  private static final int FILES = 1000;

  /**
   * Lists, kills the daemon, and lists again; returns both outputs, and the files left in the end.
   */
  private static final String SCRIPT =
      """
      place=$1 out=$2 name=$3 shm=$4; shift 4
      mkdir -p /run/holdfast && mount -t tmpfs -o size=3m none /run/holdfast || exit 1
      mount -t tmpfs -o "size=$shm" none /dev/shm || exit 1
      "$@" >&2 || exit 1
      list() { (cd "$place" && find . | sort >"$out/$1"); echo "$1 $(cd "$place" && find . >/dev/null; echo $?)"; }
      list first
      "$HOLDFAST" stats "$name" --json >"$out/stats"
      state=/run/holdfast/$name.state
      if [ -e "$state/supervisor" ]; then
        daemon=$(pgrep -P "$(cat "$state/supervisor")" java)
        ls /dev/shm >"$out/elsewhere"
        first=$(cat "$state/ready")
        kill -9 "$daemon"
        until next=$(cat "$state/ready" 2>/dev/null) && [ "$next" != "$first" ] || [ ! -e "$state" ]; do
          sleep 0.05
        done
        list second
      fi
      "$HOLDFAST" umount "$name" >/dev/null 2>&1
      echo "left $(ls /dev/shm | wc -l)"
      """;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private Path tree() throws IOException {
    Path root = sandbox.tmpfs("origin");
    sandbox
        .command(
            "sh",
            "-c",
            "cd \"$1\" && for i in $(seq $2); do mkdir class_$i && (cd class_$i && seq -f"
                + " 'n%08.0f_with_a_usual_name.JPEG' $3 | xargs touch); done",
            "sh",
            root.toString(),
            Integer.toString(DIRECTORIES),
            Integer.toString(FILES))
        .mustSucceed();
    return root;
  }

  private static boolean isKernelBinding() {
    return System.getProperty("holdfast.binding").equals("kernel");
  }

  /** Runs the script with so much room in /dev/shm; returns its output. */
  private String run(Path out, Path place, Path origin, String shm, String state) {
    String name = sandbox.id() + "-small";
    List<String> command =
        new ArrayList<>(
            List.of("unshare", "-m", "sh", "-c", SCRIPT, "sh", place.toString(), out.toString()));
    command.addAll(List.of(name, shm, Sandbox.launcher(), "mount", "--name", name));
    command.addAll(List.of("--binding", System.getProperty("holdfast.binding")));
    command.addAll(List.of("--log-file", out.resolve("log").toString(), "--state-dir", state));
    command.addAll(List.of("--capacity", "1M", "--policy", "none", "--count-opens", "off"));
    command.addAll(List.of(origin.toString(), place.toString()));
    return sandbox.run(Map.of("HOLDFAST", Sandbox.launcher()), command).mustSucceed().out();
  }

  private static List<String> names(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.map(path -> path.equals(root) ? "." : "./" + root.relativize(path))
          .sorted()
          .toList();
    }
  }

  private static List<String> listed(Path out, String when) throws IOException {
    return Files.readAllLines(out.resolve(when)).stream().sorted().toList();
  }

  /** 24 of 60 directories were listed short: {@code find} said nothing, nor did the log. */
  @Test
  void names_noRoomInRun_goElsewhereAndOutliveTheDaemon() throws IOException {
    Path origin = tree();
    Path out = sandbox.folder("out-small");
    String said =
        run(out, sandbox.folder("mnt"), origin, "64m", sandbox.folder("state").toString());
    List<String> expected = names(origin);

    assertThat(said).contains("first 0").contains("left 0");
    assertThat(listed(out, "first")).isEqualTo(expected);
    if (isKernelBinding()) {
      assertThat(said).contains("second 0");
      assertThat(listed(out, "second")).isEqualTo(expected);
      assertThat(Files.readString(out.resolve("elsewhere"))).contains("-nodes");
      assertThat(Files.readString(out.resolve("log")))
          .containsOnlyOnce("/nodes has no room beyond");
      assertThat(Files.readString(out.resolve("stats")))
          .containsPattern("\"names_elsewhere_bytes\" ?: ?[1-9]");
    }
  }

  /** The next daemon must not take an incomplete table for the whole one: the mount ends. */
  @Test
  void names_noRoomAnywhere_endWithTheDaemonAndTheMount() throws IOException {
    Path origin = tree();
    Path out = sandbox.folder("out-none");
    Path place = sandbox.folder("mnt");
    String said = run(out, place, origin, "64k", "none");

    assertThat(said).contains("first 0").contains("left 0");
    assertThat(listed(out, "first")).isEqualTo(names(origin));
    if (isKernelBinding()) {
      assertThat(Files.readAllLines(out.resolve("second"))).as("unmounted").containsExactly(".");
      assertThat(Files.readString(out.resolve("log")))
          .containsOnlyOnce("it goes on in the daemon's own memory")
          .containsOnlyOnce("the mount ends: ");
    }
  }
}
