package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The heap is full just when the log and the tree have an operation and the persister is to be told
 * of it: the daemon went on with the next operations, and the store never got that one. Or the
 * persister finds it full.
 */
@Timeout(120)
class FullHeapTest {
  private static final Operation.Attributes CHANGE =
      new Operation.Attributes("a", 0640, -1, -1, FileTree.OMIT, FileTree.OMIT);

  /** As many operations as the queue of the front has room for, shortly before it doubles. */
  private static final int OPERATIONS = 32_190;

  private static final int PIECE = 1000;

  /** Room for some operations, and for no larger queue. */
  private static final int FREE_PIECES = 100;

  private static final int MISSED = 3;

  @TempDir private Path directory;

  /** A daemon, as far as its front goes. Its heap has 32 MiB. */
  static final class Daemon {
    private Daemon() {}

    /** Changes a file of the front, the argument, until the heap is full. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
      try (Front front = open(Path.of(arguments[0]))) {
        int mode = Stat.REGULAR | 0600;
        front.perform(() -> new Operation.Make("a", mode, 0, Procfs.ownUid(), Procfs.ownGid(), ""));
        for (int i = 1; i < OPERATIONS; i++) {
          front.perform(() -> CHANGE);
        }
        ArrayDeque<byte[]> filler = filled();
        for (int i = 0; i < FREE_PIECES; i++) {
          filler.pop();
        }
        changeUntilFull(front);
        filler.clear();
        System.exit(front.pendingOperations() == front.last() ? 0 : MISSED);
      }
    }

    private static void changeUntilFull(Front front) throws IOException, InterruptedException {
      try {
        while (true) {
          front.perform(() -> CHANGE);
        }
      } catch (OutOfMemoryError e) {
        return; // as the thread does that answers a request
      }
    }

    private static ArrayDeque<byte[]> filled() {
      ArrayDeque<byte[]> filler = new ArrayDeque<>(1 << 16);
      try {
        while (true) {
          filler.push(new byte[PIECE]);
        }
      } catch (OutOfMemoryError e) {
        return filler;
      }
    }
  }

  private static Front open(Path directory) throws IOException {
    return new Front(directory, 1 << 30, true, System::nanoTime);
  }

  private Process start(Class<?> daemon, Path front, Path output) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(each -> each.startsWith("--"))
            .toList());
    command.addAll(List.of("-Xmx32m", "-XX:+UseSerialGC", "-XX:-UseTLAB"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(daemon.getName(), front.toString()));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }

  @Test
  void operationThatTheHeapHasNoRoomFor_isInTheLogOfTheNextDaemon() throws Exception {
    Path front = directory.resolve("front");
    Path output = directory.resolve("output");

    Process daemon = start(Daemon.class, front, output);

    assertThat(daemon.waitFor(100, TimeUnit.SECONDS)).isTrue();
    assertThat(daemon.exitValue()).as("%s", Files.readString(output)).isEqualTo(1);
    assertThat(output).content().contains("a change has ended halfway");
    try (Front next = open(front)) {
      assertThat(next.last()).isGreaterThan(OPERATIONS);
      assertThat(next.pendingOperations()).isEqualTo((int) next.last());
      next.closeFiles();
    }
  }

  /** A full heap, which has no room for words about it either. */
  private static final class Full extends OutOfMemoryError {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new OutOfMemoryError("no room for words");
    }
  }

  /** A store that finds the heap full. */
  private static final class FullStore extends ForwardingStore {
    FullStore(DirectoryStore store) {
      super(store);
    }

    @Override
    public void apply(Operation operation) {
      throw new Full();
    }
  }

  /** A daemon, as far as its front and its persister go. */
  static final class PersistingDaemon {
    private PersistingDaemon() {}

    /** Makes a file in the front, the argument, and waits for a store that finds the heap full. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
      Path path = Path.of(arguments[0]);
      Front front = open(path);
      Path store = Files.createDirectory(path.resolveSibling("store"));
      FullStore full = new FullStore(new DirectoryStore(store, "one", false));
      Persister persister = new Persister(front, full, 0, 0, SaveMeter.ofProcess());
      int mode = Stat.REGULAR | 0600;
      front.perform(() -> new Operation.Make("a", mode, 0, Procfs.ownUid(), Procfs.ownGid(), ""));
      persister.start();
      persister.await(front.last(), TimeUnit.SECONDS.toNanos(20));
      System.exit(MISSED);
    }
  }

  /** Its handler of errors failed as well, and the thread was gone: nothing was persisted then. */
  @Test
  void persisterThatHasNoRoomToTellOfAFullHeap_endsTheDaemon() throws Exception {
    Path front = directory.resolve("front");
    Path output = directory.resolve("output");

    Process daemon = start(PersistingDaemon.class, front, output);

    assertThat(daemon.waitFor(100, TimeUnit.SECONDS)).isTrue();
    assertThat(daemon.exitValue()).as("%s", Files.readString(output)).isEqualTo(1);
    assertThat(output).content().contains("this daemon ends, and the next one goes on");
    try (Front next = open(front)) {
      assertThat(next.pendingOperations()).isEqualTo(1);
      next.closeFiles();
    }
  }
}
