package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that is killed at any step of adding names or taking them out leaves a table that the
 * next one reads right: no name is lost, none is there twice or leads elsewhere, and no page is
 * lost. What a stopped process has in the table's file is what a killed one would leave there, so
 * one process is stopped again and again, and its file copied.
 */
final class KilledTableTest {
  private static final int STOPS = Integer.getInteger("holdfast.stops", 20);
  private static final int DIRECTORIES = 3;
  private static final int NAMES = 40;
  private static final int MOST_PAGES = 8;

  @TempDir private Path folder;

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] directoryName(int number) {
    return name("directory" + number);
  }

  private static Attributes folder() {
    return new Attributes(Attributes.DIRECTORY | 0755, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, "");
  }

  /** Owner and links follow from one number, so that a shape that is another's shows. */
  private static Attributes file(long generation, int shape) {
    return new Attributes(
        Attributes.REGULAR | 0644,
        shape % 7 + 1,
        shape,
        shape + 1,
        0,
        generation,
        generation,
        0,
        0,
        0,
        0,
        "");
  }

  /**
   * The record of what the process was about to write: the current name or directory, 0 for none,
   * and the generation of each name, 0 for none.
   */
  private static final class Said implements AutoCloseable {
    private final GrowingMemory memory;

    Said(Path file) throws FsException {
      memory = GrowingMemory.at(file);
      memory.reserve((1 + DIRECTORIES * NAMES) * (long) Long.BYTES);
    }

    long doing() {
      return Memory.getLong(memory.address());
    }

    void setDoing(long what) {
      VarHandle.fullFence();
      Memory.putLong(memory.address(), what);
      VarHandle.fullFence();
    }

    private long at(int slot) {
      return memory.address() + (1L + slot) * Long.BYTES;
    }

    long generation(int slot) {
      return Memory.getLong(at(slot));
    }

    void setGeneration(int slot, long generation) {
      Memory.putLong(at(slot), generation);
    }

    @Override
    public void close() {
      memory.close();
    }
  }

  /** The process that is stopped: its names come and go, and get other attributes. */
  static final class Writer implements Runnable {
    private final NodeTable table;
    private final Said said;
    private final Random random;
    private final long[] directories = new long[DIRECTORIES];
    private final long[] ids = new long[DIRECTORIES * NAMES];
    private volatile long updated;
    private long generation;

    private Writer(Path folder, long seed) throws FsException {
      table = new NodeTable(GrowingMemory.at(folder.resolve("nodes")));
      said = new Said(folder.resolve("said"));
      random = new Random(seed);
      table.add(0, new byte[0], folder());
      for (int i = 0; i < DIRECTORIES; i++) {
        directories[i] = table.add(Tree.ROOT, directoryName(i), folder());
      }
    }

    /** Takes a folder and a seed. */
    public static void main(String[] args) throws IOException {
      Writer writer = new Writer(Path.of(args[0]), Long.parseLong(args[1]));
      Thread updates = new Thread(writer, "updates");
      updates.setDaemon(true);
      updates.start();
      System.out.println("begun");
      while (true) {
        writer.change();
      }
    }

    private void change() throws FsException {
      for (int i = random.nextInt(4); i >= 0; i--) {
        if (random.nextInt(500) == 0) {
          replaceDirectory(random.nextInt(DIRECTORIES));
        } else {
          replaceName(random.nextInt(ids.length));
        }
      }
      table.clean();
      if (random.nextInt(5000) == 0) {
        System.gc(); // so that pages are used again
      }
    }

    private void replaceName(int slot) throws FsException {
      said.setDoing(slot + 1);
      discard(slot);
      said.setGeneration(slot, 0);
      if (random.nextBoolean()) {
        generation++;
        said.setGeneration(slot, generation);
        Attributes attributes = file(generation, random.nextInt(100));
        ids[slot] = table.add(directories[slot / NAMES], name("name" + slot), attributes);
        updated = ids[slot];
      }
      said.setDoing(0);
    }

    private void discard(int slot) {
      if (ids[slot] != 0) {
        table.markStale(ids[slot]);
        table.discard(ids[slot]);
        ids[slot] = 0;
      }
    }

    private void replaceDirectory(int number) throws FsException {
      said.setDoing(-number - 1);
      table.markStale(directories[number]);
      for (int slot = number * NAMES; slot < (number + 1) * NAMES; slot++) {
        discard(slot);
        said.setGeneration(slot, 0);
      }
      table.discard(directories[number]);
      directories[number] = table.add(Tree.ROOT, directoryName(number), folder());
      said.setDoing(0);
    }

    @Override
    public void run() {
      Random own = new Random();
      while (true) {
        Node node = table.node(updated);
        if (node != null) {
          Attributes before = node.attributes();
          try {
            boolean unused = table.update(node.id(), before, file(before.size(), own.nextInt(100)));
          } catch (FsException e) {
            throw new UncheckedIOException(e);
          } finally {
            Reference.reachabilityFence(node);
          }
        }
      }
    }
  }

  @Test
  void killed_atAnyStep_leavesEveryNameOnce() throws Exception {
    long seed = System.nanoTime();
    System.out.println("KilledTableTest: seed " + seed);
    Path copy = Files.createDirectory(folder.resolve("copy"));
    Process writer =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Writer.class.getName(),
                folder.toString(),
                Long.toString(seed))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    int between = 0;
    try {
      assertThat(writer.inputReader().readLine()).isEqualTo("begun");
      for (int i = 0; i < STOPS; i++) {
        stop(writer);
        run("cp", "--sparse=always", folder + "/nodes", folder + "/said", copy.toString());
        run("kill", "-CONT", Long.toString(writer.pid()));
        try (Said said = new Said(copy.resolve("said"));
            NodeTable table = new NodeTable(GrowingMemory.at(copy.resolve("nodes")))) {
          between += said.doing() == 0 ? 0 : 1;
          check(table, said);
          goOn(table);
        }
      }
      assertThat(writer.isAlive()).isTrue();
    } finally {
      writer.destroyForcibly().waitFor();
    }
    System.out.printf("%d stops, %d of them between two states of a name%n", STOPS, between);
  }

  private static void stop(Process process) throws IOException, InterruptedException {
    run("kill", "-STOP", Long.toString(process.pid()));
    Await.until("all threads stand still", () -> isStopped(process));
  }

  private static boolean isStopped(Process process) {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        String stat = Files.readString(thread.resolve("stat"));
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void run(String... command) throws IOException, InterruptedException {
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor())
        .as(Arrays.toString(command))
        .isZero();
  }

  private static void check(NodeTable table, Said said) {
    NameIndex index = new NameIndex(table);
    table.forEach(
        id -> {
          if (id != Tree.ROOT && !table.isStale(id)) {
            index.add(id);
          }
        });
    Map<String, Long> directories = entries(table, Tree.ROOT);
    for (int i = 0; i < DIRECTORIES; i++) {
      Long directory = directories.get(new String(directoryName(i), StandardCharsets.UTF_8));
      boolean changes = said.doing() == -i - 1;
      if (!changes) {
        assertThat(directory).isNotNull();
      }
      if (directory != null) {
        check(table, index, said, i, directory, changes);
      }
    }
  }

  private static void check(
      NodeTable table, NameIndex index, Said said, int number, long directory, boolean changes) {
    Map<String, Long> names = entries(table, directory);
    for (int slot = number * NAMES; slot < (number + 1) * NAMES; slot++) {
      Long id = names.remove("name" + slot);
      assertThat(index.find(directory, name("name" + slot))).isEqualTo(id == null ? 0 : id);
      if (id != null) {
        Attributes found = table.attributes(id);
        assertThat(found).isEqualTo(file(found.inode(), found.uid()));
      }
      if (!changes && said.doing() != slot + 1) {
        long generation = id == null ? 0 : table.attributes(id).size();
        assertThat(generation).isEqualTo(said.generation(slot));
      }
    }
    assertThat(names).isEmpty();
  }

  private static Map<String, Long> entries(NodeTable table, long directory) {
    Map<String, Long> entries = new HashMap<>();
    table.forEachEntry(
        directory,
        0,
        id -> {
          if (!table.isStale(id)) {
            assertThat(table.parent(id)).isEqualTo(directory);
            String name = new String(table.name(id), StandardCharsets.UTF_8);
            assertThat(entries.put(name, id)).as(name).isNull();
          }
          return true;
        });
    return entries;
  }

  /**
   * The next one tells the kernel of what has lost its name, and adds names as well. Once all have
   * gone it has their pages back.
   */
  private static void goOn(NodeTable table) throws FsException {
    table.takeParted(node -> assertThat(node.isStale()).isTrue());
    for (int i = 0; i < 500; i++) {
      table.add(Tree.ROOT, name("more" + i), file(i, i % 100));
    }
    assertThat(entries(table, Tree.ROOT).keySet()).contains("more0", "more499");
    List<Long> all = new ArrayList<>();
    table.forEach(
        id -> {
          if (id != Tree.ROOT && !table.isStale(id)) {
            all.add(id);
          }
        });
    all.forEach(
        id -> {
          table.markStale(id);
          table.discard(id);
        });
    table.clean();
    assertThat(entries(table, Tree.ROOT)).isEmpty();
    Await.until(
        "all pages are free",
        () -> {
          System.gc();
          table.clean();
          return table.bytes() <= MOST_PAGES * Blocks.SIZE;
        });
  }
}
