package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Checks that the daemon's threads do not grow with its readers. */
class WaitingReadersIT {
  private static final int READERS = 1000;

  /** Among them the four for notices, which are there from the start. */
  private static final int MOST_THREADS = 19;

  private static final Duration WAIT = Duration.ofMinutes(1);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration CALM = Duration.ofMinutes(2);

  /** Threads of the virtual machine itself. */
  private static final Pattern JAVAS =
      Pattern.compile(
          "java|GC .*|G1 .*|VM .*|C[12] Compiler.*|Signal Dispatch.*|Reference Handl.*|Finalizer"
              + "|Common-Cleaner|Sweeper.*|Service Thread|Monitor Deflati.*|Notification T.*"
              + "|Attach Listener|Cleaner-.*|process reaper");

  /** Threads for commands. Those of other tests ask each daemon of the machine for its promises. */
  private static final Pattern OF_COMMANDS = Pattern.compile("control-(\\d+|deadlin.*)");

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** They wait for one item, whose origin does not answer. */
  @Test
  void thousandReaders_thatWait_needNoMoreThreads() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 1, i -> 100_000);
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    // nobody probes it, gives it up, or asks it for names meanwhile
    Mount mount =
        sandbox.mount(store.root(), "--capacity=64M", "--source-timeout=10m", "--metadata-ttl=10m");
    for (String file : dataset.files()) {
      assertThat(Files.size(mount.path(file))).isEqualTo(100_000);
    }
    store.freeze();
    Child readers =
        sandbox.start(
            "sh",
            "-c",
            "for i in $(seq %d); do cat \"$1\" & done >/dev/null; wait".formatted(READERS),
            "sh",
            mount.path(dataset.files().get(0)).toString());
    Await.value(WAIT, "all readers waiting", this::waiting, count -> count == READERS);

    // threads for names end when nobody has looked one up for a while; of those that receive, one
    // too many ends when it has answered a request: the one for a name that was not asked before
    List<String> threads =
        Await.value(
            CALM,
            "few threads",
            () -> {
              assertThat(mount.path(".holdfast/" + System.nanoTime())).doesNotExist();
              return ownThreads(mount);
            },
            names -> names.size() <= MOST_THREADS);

    System.out.printf("%d threads with %d readers waiting: %s%n", threads.size(), READERS, threads);
    store.thaw();
    assertThat(readers.await(LONG).exit()).isZero();
  }

  private long waiting() {
    return ProcessTable.marked(sandbox.id()).stream()
        .filter(row -> row.commandLine().startsWith("cat /"))
        .filter(row -> row.state() == 'D' || row.state() == 'S')
        .count();
  }

  private static List<String> ownThreads(Mount mount) throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/" + mount.pid() + "/task"))) {
      List<String> names = new ArrayList<>();
      for (Path task : tasks.toList()) {
        try {
          names.add(Files.readString(task.resolve("comm")).strip());
        } catch (IOException e) {
          // it has ended meanwhile
        }
      }
      names.removeIf(name -> JAVAS.matcher(name).matches() || OF_COMMANDS.matcher(name).matches());
      return names.stream().sorted().toList();
    }
  }
}
