package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.FakeOrigin;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NodeTableTest {
  @TempDir private Path directory;

  private static Attributes attributes(long seed) {
    return new Attributes(
        Attributes.REGULAR | 0644,
        (int) seed,
        (int) seed + 1,
        -2,
        seed + 3,
        seed + 4,
        seed + 5,
        seed + 6,
        -seed,
        seed + 8,
        Long.MIN_VALUE + seed,
        seed % 2 == 0 ? "" : "etag-" + seed);
  }

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void records_openedAgain_areTheSame() throws FsException {
    Path file = directory.resolve("nodes");
    List<Long> ids = new ArrayList<>();
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      ids.add(table.add(0, new byte[0], attributes(0)));
      for (int i = 1; i < 50_000; i++) {
        ids.add(table.add(ids.get(i / 100), name("n".repeat(i % 255 + 1) + i), attributes(i)));
      }
      table.markStale(ids.get(7));
      table.update(ids.get(8), attributes(80));
    }
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      List<Long> found = new ArrayList<>();
      table.forEach(found::add);
      assertThat(found).isEqualTo(ids);
      for (int i = 1; i < ids.size(); i++) {
        long id = ids.get(i);
        assertThat(table.name(id)).isEqualTo(name("n".repeat(i % 255 + 1) + i));
        assertThat(table.parent(id)).isEqualTo(ids.get(i / 100));
        assertThat(table.isStale(id)).isEqualTo(i == 7);
        assertThat(table.attributes(id)).isEqualTo(attributes(i == 8 ? 80 : i));
      }
      assertThat(table.add(1, name("next"), attributes(1))).isGreaterThan(ids.get(49_999));
    }
  }

  /** What a process that is killed leaves of a record has no length yet. */
  @Test
  void recordWithoutLength_openedAgain_isTheEnd() throws FsException {
    Path file = directory.resolve("nodes");
    long id;
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      table.add(0, new byte[0], attributes(0));
      id = table.add(1, name("half"), attributes(1));
    }
    try (GrowingMemory memory = GrowingMemory.at(file)) {
      io.holdfast.fs.linux.Memory.putInt(memory.address() + 8 * id, 0);
    }
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      assertThat(table.contains(id)).isFalse();
      assertThat(table.add(1, name("other"), attributes(2))).isEqualTo(id);
      assertThat(table.name(id)).isEqualTo(name("other"));
    }
  }

  @Test
  void tree_onWhatAnotherLeft_givesTheSameNodes() throws FsException {
    Path file = directory.resolve("nodes");
    FakeOrigin origin = new FakeOrigin();
    origin.file("a/kept", new byte[3]);
    origin.file("a/changed", new byte[3]);
    origin.file("a/gone", new byte[3]);
    Node kept;
    Node changed;
    Node gone;
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      Tree tree = new Tree(origin, table, old -> {});
      Node a = tree.lookup(tree.root(), name("a"));
      kept = tree.lookup(a, name("kept"));
      changed = tree.lookup(a, name("changed"));
      gone = tree.lookup(a, name("gone"));
      origin.remove("a/gone");
      origin.file("a/changed", new byte[4]);
      assertThat(tree.size()).isEqualTo(5);
    }
    List<Long> replaced = new ArrayList<>();
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      Tree tree = new Tree(origin, table, old -> replaced.add(old.id()));
      assertThat(tree.size()).isEqualTo(5);
      assertThat(tree.known(tree.root(), name("a"))).isNotNull();
      Node a = tree.lookup(tree.root(), name("a"));
      assertThat(tree.lookup(a, name("kept")).id()).isEqualTo(kept.id());
      assertThat(tree.node(gone.id()).attributes().size()).isEqualTo(3);
      assertThat(tree.lookup(a, name("changed")).id()).isNotEqualTo(changed.id());
      assertThat(replaced).containsExactly(changed.id());
    }
  }

  /** At most so many bytes of memory a node: the sum of record and index. */
  @Test
  void memory_manyNodes_isLittle() throws FsException {
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], attributes(0));
      int count = 100_000;
      for (int i = 0; i < count; i++) {
        table.add(1, name("n%08d_0000.JPEG".formatted(i)), attributes(2L * i));
      }
      assertThat(table.bytes()).isLessThanOrEqualTo(112L * (count + 1));
    }
  }

  @Test
  void index_addedAndRemoved_equalsAMap() throws FsException {
    long seed = System.nanoTime();
    System.out.println("index_addedAndRemoved: seed " + seed);
    Random random = new Random(seed);
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], attributes(0));
      NameIndex index = new NameIndex(table);
      Map<String, Long> model = new HashMap<>();
      for (int i = 0; i < 100_000; i++) {
        String name = "f" + random.nextInt(i < 50_000 ? 20_000 : 500);
        Long there = model.get(name);
        if (there == null) {
          assertThat(index.find(1, name(name))).isZero();
          long id = table.add(1, name(name), attributes(i));
          index.add(id);
          model.put(name, id);
        } else if (random.nextInt(3) == 0) {
          assertThat(index.remove(there)).isTrue();
          assertThat(index.remove(there)).isFalse();
          model.remove(name);
        } else {
          assertThat(index.find(1, name(name))).isEqualTo(there);
          assertThat(index.find(there, name(name))).isZero();
        }
      }
    }
  }
}
