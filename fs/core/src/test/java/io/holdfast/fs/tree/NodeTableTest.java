package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.FakeOrigin;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NodeTableTest {
  private static final int ROOT_BYTES = 96;

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
        seed % 2 == 0 ? "" : "etag-" + seed,
        (int) -seed,
        (int) seed & 0xffff);
  }

  private static Attributes directory(long seed) {
    Attributes file = attributes(seed);
    return new Attributes(
        Attributes.DIRECTORY | 0755,
        file.links(),
        file.uid(),
        file.gid(),
        file.device(),
        file.inode(),
        file.size(),
        file.blocks(),
        file.accessed(),
        file.modified(),
        file.changed(),
        file.etag());
  }

  /** Returns attributes as files have them: nearly all with the same owner and mode. */
  private static Attributes alike(long seed, String etag) {
    return new Attributes(
        Attributes.REGULAR | 0644, 1, 0, 0, 0, seed, seed, seed, seed, seed, seed, etag);
  }

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void records_openedAgain_areTheSame() throws FsException {
    Path file = directory.resolve("nodes");
    List<Long> ids = new ArrayList<>();
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      ids.add(table.add(0, new byte[0], directory(0)));
      for (int i = 1; i < 50_000; i++) {
        Attributes attributes = i < 500 ? directory(i) : attributes(i);
        ids.add(table.add(ids.get(i / 100), name("n".repeat(i % 255 + 1) + i), attributes));
      }
      table.markStale(ids.get(40_007));
      assertThat(table.update(ids.get(8), directory(8), directory(80))).isTrue();
      assertThat(table.update(ids.get(8), directory(8), directory(81))).isFalse();
      table.setListed(ids.get(9), 12345, 1);
    }
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      List<Long> found = new ArrayList<>();
      table.forEach(found::add);
      assertThat(found).isEqualTo(ids);
      for (int i = 1; i < ids.size(); i++) {
        long id = ids.get(i);
        assertThat(table.name(id)).isEqualTo(name("n".repeat(i % 255 + 1) + i));
        assertThat(table.parent(id)).isEqualTo(ids.get(i / 100));
        assertThat(table.isStale(id)).isEqualTo(i == 40_007);
        Attributes expected = i == 8 ? directory(80) : i < 500 ? directory(i) : attributes(i);
        assertThat(table.attributes(id)).isEqualTo(expected);
      }
      for (int i = 0; i < 500; i++) {
        List<Long> entries = new ArrayList<>();
        table.forEachEntry(ids.get(i), 0, entries::add);
        List<Long> added = new ArrayList<>(ids.subList(i == 0 ? 1 : i * 100, i * 100 + 100));
        added.remove(ids.get(40_007));
        assertThat(entries).isEqualTo(added);
        assertThat(table.listed(ids.get(i))).isEqualTo(i == 9 ? 12345 : 0);
      }
      assertThat(table.add(1, name("next"), attributes(1))).isGreaterThan(ids.get(49_999));
    }
  }

  /** A listing counts only if it began after the directory was forgotten. */
  @Test
  void setListed_forgottenSince_isIgnored() throws FsException {
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("nodes"))) {
      long id = table.add(0, new byte[0], directory(0));
      table.setListed(id, 1000, 7);
      table.forgetListed(id, 2000);
      assertThat(table.listed(id)).isZero();
      table.setListed(id, 2000, 8);
      assertThat(table.listed(id)).isZero();
      table.setListed(id, 0, 0);
      table.setListed(id, 1999, 8);
      assertThat(table.listed(id)).isZero();
      table.setListed(id, 2001, 9);
      assertThat(table.listed(id)).isEqualTo(2001);
      assertThat(table.listedChanged(id)).isEqualTo(9);
      table.setListed(id, 0, 0);
      table.setListed(id, 2, 0);
      assertThat(table.listed(id)).isEqualTo(2);
    }
  }

  /** A record that a killed process has left half-written has no flags yet. */
  @Test
  void recordWithoutFlags_openedAgain_isTheEnd() throws FsException {
    Path file = directory.resolve("nodes");
    long id;
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      table.add(0, new byte[0], directory(0));
      id = table.add(1, name("half"), attributes(1));
    }
    try (GrowingMemory memory = GrowingMemory.at(file)) {
      Memory.putLong(address(memory, id), 0);
    }
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      assertThat(table.contains(id)).isFalse();
      assertThat(table.add(1, name("other"), attributes(1))).isEqualTo(id);
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

  /** A daemon that is killed may have added a record that its directory does not lead to yet. */
  @Test
  void recordNotLinked_openedAgain_isLinked() throws FsException {
    Path file = directory.resolve("nodes");
    long id;
    GrowingMemory memory = GrowingMemory.at(file);
    try (NodeTable table = new NodeTable(memory)) {
      table.add(0, new byte[0], directory(0));
      table.add(1, name("first"), directory(0));
      byte[] before = Memory.bytes(address(memory, 1), ROOT_BYTES);
      id = table.add(1, name("second"), directory(0));
      Memory.put(address(memory, 1), before, 0, before.length);
    }
    try (NodeTable table = new NodeTable(GrowingMemory.at(file))) {
      List<Long> entries = new ArrayList<>();
      table.forEachEntry(1, 0, entries::add);
      assertThat(entries).hasSize(2).endsWith(id);
    }
  }

  /** Returns the address of a node of the first block, behind the page about the whole table. */
  private static long address(GrowingMemory memory, long id) {
    return memory.address() + Blocks.SIZE + NodeRecord.UNIT * id;
  }

  /** Places come from any caller of seekdir: a wrong place must not lead anywhere. */
  @Test
  void entries_behindAnyPlace_areTheDirectorys() throws FsException {
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], directory(0));
      long inner = table.add(1, name("inner"), directory(0));
      List<Long> own = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        own.add(table.add(inner, name("n" + i), alike(i, "")));
        table.add(1, name("m" + i), alike(i, ""));
      }
      for (long place = -5; place < table.end() + 1000; place++) {
        List<Long> entries = new ArrayList<>();
        table.forEachEntry(inner, place, entries::add);
        long after = place;
        assertThat(entries)
            .as("behind %d", place)
            .isEqualTo(after < 0 ? List.of() : own.stream().filter(id -> id > after).toList());
      }
      List<Long> two = new ArrayList<>();
      table.forEachEntry(inner, 0, id -> two.add(id) && two.size() < 2);
      assertThat(two).isEqualTo(own.subList(0, 2));
    }
  }

  @Test
  void pass_marksOfSeveral_tellWhoBeganLater() throws FsException {
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      long id = table.add(0, new byte[0], directory(0));
      int before = table.beginPass(1);
      for (int i = 0; i < 1000; i++) {
        int first = table.beginPass(1);
        int second = table.beginPass(1);
        assertThat(table.isSeen(id, first)).isFalse();
        table.see(id, second);
        table.see(id, first);
        assertThat(table.isSeen(id, first)).isTrue();
        assertThat(table.isSeen(id, second)).isTrue();
      }
      table.unsee(id);
      assertThat(table.isSeen(id, before)).isFalse();
    }
  }

  @Test
  void etag_ofAnyKind_isKept() throws FsException {
    String md5 = "d41d8cd98f00b204e9800998ecf8427e";
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], directory(0));
      table.add(1, name("first"), alike(1, ""));
      long before = table.end();
      table.add(1, name("12345678"), alike(1, ""));
      long without = table.end() - before;
      for (String etag :
          List.of(
              md5, md5 + "-17", md5.toUpperCase(Locale.ROOT), "", "x", "\u00e9", "0".repeat(250))) {
        long id = table.add(1, name("12345678"), alike(1, etag));
        assertThat(table.attributes(id).etag()).isEqualTo(etag);
      }
      before = table.end();
      table.add(1, name("1234567"), alike(1, md5));
      assertThat(table.end() - before).isEqualTo(without + 16 / NodeRecord.UNIT);
    }
  }

  /** The sum of records and index a node is far below the 150 that ten million may take each. */
  @Test
  void memory_manyNodes_isLittle() throws FsException {
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], directory(0));
      NameIndex index = new NameIndex(table);
      int count = 100_000;
      for (int i = 0; i < count; i++) {
        index.add(table.add(1, name("n%08d_%06d.JPEG".formatted(i, i)), alike(i, "")));
      }
      double each = (table.bytes() + index.bytes()) / (double) count;
      System.out.printf(
          "%.1f bytes a node, of them %.1f of the index%n", each, index.bytes() / 1e5);
      assertThat(each).isLessThanOrEqualTo(100);
    }
  }

  @Test
  void index_addedAndRemoved_equalsAMap() throws FsException {
    long seed = System.nanoTime();
    System.out.println("index_addedAndRemoved: seed " + seed);
    Random random = new Random(seed);
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      table.add(0, new byte[0], directory(0));
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
