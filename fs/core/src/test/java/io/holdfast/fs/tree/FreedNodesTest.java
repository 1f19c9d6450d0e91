package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes that nobody finds any more are freed, and never taken for the nodes that then have their
 * memory.
 */
final class FreedNodesTest {
  @TempDir private Path directory;

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Its owner is of the number alone, so that shapes come and go as well. */
  private static Attributes file(int number) {
    return attributes(Attributes.REGULAR | 0644, number);
  }

  private static Attributes attributes(int mode, int number) {
    return new Attributes(mode, 1, number, 0, 0, number, number, 0, 0, 0, 0, "");
  }

  private static Attributes folder() {
    return attributes(Attributes.DIRECTORY | 0755, 0);
  }

  private static void discard(NodeTable table, long id) {
    table.markStale(id);
    table.discard(id);
  }

  private static List<Long> entries(NodeTable table, long directory, long after) {
    List<Long> entries = new ArrayList<>();
    table.forEachEntry(directory, after, id -> table.isStale(id) || entries.add(id));
    return entries;
  }

  /** The collector finds out that nobody holds it: waits until the block has gone. */
  private static void awaitFreed(NodeTable table, long id) {
    Await.until(
        "the block of node " + id + " is free",
        () -> {
          System.gc();
          table.clean();
          return table.node(id) == null;
        });
  }

  /** The kernel may lead to them still, and others take their memory as soon as nobody has it. */
  @Test
  void partedNodes_openedAgain_areThereUntilSomebodyTakesThem() throws FsException {
    Path file = directory.resolve("nodes");
    Set<String> names = new HashSet<>();
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      long root = table.add(0, new byte[0], folder());
      for (int i = 0; i < 500; i++) {
        names.add("old" + i);
        table.markStale(table.add(root, name("old" + i), file(i)));
      }
    }
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      System.gc();
      table.clean();
      for (int i = 0; i < 500; i++) {
        table.add(Tree.ROOT, name("new" + i), file(i));
      }
      Set<String> taken = new HashSet<>();
      table.takeParted(node -> taken.add(new String(node.name(), StandardCharsets.UTF_8)));
      assertThat(taken).isEqualTo(names);

      table.takeParted(node -> taken.clear());
      assertThat(taken).isNotEmpty();
    }
  }

  @Test
  void node_held_tellsTheSameUntilItIsLetGoOf() throws FsException {
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], folder());
      long folder = table.add(1, name("folder"), folder());
      for (int i = 0; i < 200; i++) {
        table.add(1, name("between" + i), file(i));
      }
      long id = table.add(folder, name("file"), file(77));
      for (int i = 200; i < 400; i++) {
        table.add(1, name("between" + i), file(i));
      }
      Node held = Objects.requireNonNull(table.node(id));
      List<Long> all = new ArrayList<>();
      table.forEach(each -> all.add(each));
      all.stream().filter(each -> each != 1).forEach(each -> discard(table, each));
      table.clean();
      for (int i = 0; i < 3000; i++) {
        if (i % 1000 == 0) {
          System.gc();
        }
        long more = table.add(1, name("more" + i), file(1000 + i));
        discard(table, more);
        table.clean();
      }
      assertThat(held.path().toString()).isEqualTo("folder/file");
      assertThat(held.attributes()).isEqualTo(file(77));
      assertThat(held.isStale()).isTrue();
      assertThat(held.isWithin(Objects.requireNonNull(table.node(folder)))).isTrue();
      held = Objects.requireNonNull(table.node(1));
      awaitFreed(table, id);
      assertThat(table.isStale(id)).isTrue();
      assertThat(table.contains(id)).isFalse();
      assertThat(table.listed(folder)).isZero();
      assertThat(held.id()).isEqualTo(1);
    }
  }

  /** Like a user who makes files, looks at them and removes them. */
  @Test
  void table_namesComeAndGo_takesNoMoreThanAtFirst() throws FsException {
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], folder());
      NameIndex index = new NameIndex(table);
      long most = 0;
      Set<Long> ids = new HashSet<>();
      long last = 1;
      for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 2000; i++) {
          long id = table.add(1, name("name" + round + "." + i), file(round * 2000 + i));
          assertThat(id).isGreaterThan(last);
          last = id;
          ids.add(id);
          index.add(id);
        }
        for (long id : ids) {
          assertThat(index.remove(id)).isTrue();
          discard(table, id);
        }
        ids.clear();
        table.clean();
        if (round < 20) {
          most = Math.max(most, table.bytes() + index.bytes());
        }
      }
      System.out.printf("%d bytes after 40,000 names, now %d%n", most, table.bytes());
      assertThat(entries(table, 1, 0)).isEmpty();
      // what waits for the collector, and shapes
      assertThat(table.bytes() + index.bytes()).isLessThan(most + (6 << 20));
      assertThat(last * NodeRecord.UNIT).isGreaterThan(9 << 20);
    }
  }

  /** Also the next daemon's table, whatever the last daemon was doing. */
  @Test
  void table_anyChanges_equalsAModel() throws FsException {
    long seed = System.nanoTime();
    System.out.println("table_anyChanges: seed " + seed);
    Random random = new Random(seed);
    Path file = directory.resolve("nodes");
    NodeTable table = new NodeTable(GrowingMemory.at(file));
    try {
      table.add(0, new byte[0], folder());
      Map<Long, TreeMap<Long, Integer>> model = new HashMap<>();
      List<Long> folders = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        folders.add(table.add(1, name("folder" + i), folder()));
        model.put(folders.get(i), new TreeMap<>());
      }
      long last = 0;
      int number = 0;
      for (int step = 0; step < 3000; step++) {
        long folder = folders.get(random.nextInt(folders.size()));
        TreeMap<Long, Integer> of = Objects.requireNonNull(model.get(folder));
        int what = random.nextInt(100);
        if (what < 45) {
          for (int i = random.nextInt(30); i >= 0; i--) {
            number++;
            long id = table.add(folder, name("n" + number), file(number));
            assertThat(id).isGreaterThan(last);
            last = id;
            of.put(id, number);
          }
        } else if (what < 85) {
          int share = random.nextInt(4) == 0 ? 1 : 3;
          for (long id : List.copyOf(of.keySet())) {
            if (random.nextInt(share) == 0) {
              discard(table, id);
              of.remove(id);
            }
          }
        } else if (what < 95) {
          table.clean();
        } else if (what < 97) {
          System.gc();
        } else if (what < 98) {
          table.close();
          table = new NodeTable(GrowingMemory.at(file));
        }
        long place = random.nextInt(3) == 0 ? 0 : (long) (random.nextDouble() * last);
        assertThat(entries(table, folder, place))
            .as("step %d, behind %d", step, place)
            .containsExactlyElementsOf(of.tailMap(place, false).keySet());
        for (Map.Entry<Long, Integer> each : of.entrySet()) {
          assertThat(table.attributes(each.getKey())).isEqualTo(file(each.getValue()));
          assertThat(table.name(each.getKey())).isEqualTo(name("n" + each.getValue()));
        }
      }
    } finally {
      table.close();
    }
  }

  /** A listing goes on while entries around the staying ones are freed: it has all that stay. */
  @Test
  void listing_whileOthersAreFreed_hasWhatStays() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], folder());
      List<Long> staying = new ArrayList<>();
      List<Long> first = new ArrayList<>();
      for (int i = 0; i < 3000; i++) {
        long id = table.add(1, name("n" + i), file(i));
        if (i % 100 == 0) {
          staying.add(id);
        } else {
          first.add(id);
        }
      }
      AtomicBoolean goesOn = new AtomicBoolean(true);
      List<Future<Integer>> readers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        int some = 1 + 40 * i;
        readers.add(threads.submit(() -> read(table, staying, some, goesOn)));
      }
      first.forEach(id -> discard(table, id));
      table.clean();
      for (int i = 3000; i < 60_000; i++) {
        discard(table, table.add(1, name("n" + i), file(i)));
        if (i % 500 == 0) {
          table.clean();
        }
      }
      goesOn.set(false);
      for (Future<Integer> reader : readers) {
        assertThat(reader.get()).isPositive();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Lists again and again, some entries at a time; returns how often. */
  private static int read(NodeTable table, List<Long> staying, int some, AtomicBoolean goesOn) {
    int count = 0;
    while (goesOn.get() || count == 0) {
      Set<Long> found = new HashSet<>();
      long[] last = {0, 1};
      while (last[1] > 0) {
        last[1] = 0;
        table.forEachEntry(
            1,
            last[0],
            id -> {
              Node node = Objects.requireNonNull(table.node(id));
              String own = new String(node.name(), StandardCharsets.UTF_8);
              assertThat(own).isEqualTo("n" + node.attributes().uid());
              assertThat(node.attributes()).isEqualTo(file(node.attributes().uid()));
              assertThat(id).isGreaterThan(last[0]);
              last[0] = id;
              found.add(id);
              return ++last[1] < some;
            });
      }
      assertThat(found).containsAll(staying);
      count++;
    }
    return count;
  }
}
