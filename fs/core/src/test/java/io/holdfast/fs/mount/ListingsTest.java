package io.holdfast.fs.mount;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.DelegatingOrigin;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Listings and lookups, from the tree and from the origin. */
final class ListingsTest {
  private static final Duration TTL = Duration.ofHours(1);

  private final FakeOrigin origin = new FakeOrigin();
  private volatile Runnable whenReplaced = () -> {};
  private NodeTable nodes;
  private Tree tree;
  private long later;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree = new Tree(origin, nodes, old -> whenReplaced.run());
  }

  @AfterEach
  void free() {
    nodes.close();
  }

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private MetadataCache metadata(boolean askingTakesLong, Duration ttl) {
    return new MetadataCache(tree, askingTakesLong, ttl, () -> System.nanoTime() + later);
  }

  private List<ListedEntry> list(MetadataCache metadata, Node directory, int most, boolean look)
      throws FsException {
    Listings listings = new Listings(tree, metadata, Node::attributes);
    List<ListedEntry> all = new ArrayList<>();
    int before = -1;
    while (before < all.size()) {
      before = all.size();
      int room = all.size() + most;
      long after = all.isEmpty() ? 0 : all.get(all.size() - 1).place();
      listings.list(directory, after, type -> look, entry -> all.size() < room && all.add(entry));
    }
    return all;
  }

  private List<String> names(MetadataCache metadata, int most) throws FsException {
    return list(metadata, tree.root(), most, false).stream()
        .map(entry -> new String(entry.name(), StandardCharsets.UTF_8))
        .toList();
  }

  @Test
  void list_inParts_givesEachNameOnceAndHidesTheControlDirectory() throws FsException {
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      origin.file("f" + i, new byte[1]);
      expected.add("f" + i);
    }
    origin.directory(".holdfast");
    assertThat(names(metadata(false, TTL), 7)).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void list_ofAnOriginThatAnswersFast_showsEachChange() throws FsException {
    MetadataCache metadata = metadata(false, TTL);
    origin.file("a", new byte[1]);
    origin.file("b", new byte[1]);
    assertThat(names(metadata, 100)).containsExactlyInAnyOrder("a", "b");
    origin.remove("a");
    origin.file("c", new byte[1]);
    assertThat(names(metadata, 100)).containsExactlyInAnyOrder("b", "c");
    assertThat(metadata.lookup(tree.root(), name("c")).attributes().size()).isEqualTo(1);
    assertFails(() -> metadata.lookup(tree.root(), name("a")), FsError.NOT_FOUND);
    assertThat(metadata.believe(tree.root())).isEqualTo(TTL);
  }

  @Test
  void listedWhole_askingTakesLong_answersFromMemoryForTheTtl() throws FsException {
    MetadataCache metadata = metadata(true, TTL);
    origin.file("a", new byte[1]);
    assertThat(names(metadata, 100)).containsExactly("a");
    long asked = origin.stats();
    origin.remove("a");
    origin.file("b", new byte[2]);
    assertThat(names(metadata, 100)).containsExactly("a");
    Node a = metadata.lookup(tree.root(), name("a"));
    assertThat(metadata.refresh(a)).isTrue();
    assertFails(() -> metadata.lookup(tree.root(), name("b")), FsError.NOT_FOUND);
    assertThat(list(metadata, tree.root(), 100, true).get(0).leads()).isNotNull();
    assertThat(origin.stats()).as("questions").isEqualTo(asked);

    later = TTL.dividedBy(2).toNanos();
    assertThat(metadata.believe(tree.root()))
        .isBetween(TTL.dividedBy(2).minusMinutes(1), TTL.dividedBy(2));
    assertThat(metadata.believeAttributes(a)).isLessThanOrEqualTo(TTL.dividedBy(2));

    later = TTL.toNanos();
    assertThat(metadata.believe(tree.root())).isEqualTo(TTL);
    assertFails(() -> metadata.lookup(tree.root(), name("a")), FsError.NOT_FOUND);
    assertThat(names(metadata, 100)).containsExactly("b");
  }

  @Test
  void listedWhole_ttlOfZero_isAskedAllTheSame() throws FsException {
    MetadataCache metadata = metadata(true, Duration.ZERO);
    origin.file("a", new byte[1]);
    assertThat(names(metadata, 100)).containsExactly("a");
    origin.remove("a");
    assertFails(() -> metadata.lookup(tree.root(), name("a")), FsError.NOT_FOUND);
    assertThat(names(metadata, 100)).isEmpty();
    assertThat(metadata.believe(tree.root())).isZero();
  }

  /** Memory from before a reboot is from another clock. */
  @Test
  void listedWhole_inTheFuture_isNotBelieved() throws FsException {
    MetadataCache metadata = metadata(true, TTL);
    names(metadata, 100);
    assertThat(metadata.holds(tree.root())).isTrue();
    later = -TTL.toNanos();
    assertThat(metadata.holds(tree.root())).isFalse();
  }

  @Test
  void list_entriesWithoutAttributes_areListedByName() throws FsException {
    for (int i = 0; i < 10; i++) {
      origin.file("f" + i, new byte[1]);
    }
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.toString().compareTo("f4") > 0) {
              throw new FsException(FsError.ACCESS_DENIED, "denied");
            }
          }
        });
    List<ListedEntry> all = list(metadata(true, TTL), tree.root(), 3, true);
    assertThat(all).hasSize(10);
    assertThat(all.stream().filter(entry -> entry.leads() != null)).hasSize(5);
    assertThat(tree.listedAt(tree.root())).as("not all is known").isZero();
  }

  /** Like some file systems while an entry is renamed; one of the two may lack its attributes. */
  @Test
  void list_originTellsNamesTwice_givesEachOnce() throws FsException {
    origin.file("known", new byte[1]);
    origin.file("denied", new byte[1]);
    origin.file("both", new byte[1]);
    Origin twice =
        new DelegatingOrigin(origin) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            super.list(
                path,
                (name, type, inode, attributes) -> {
                  String text = new String(name, StandardCharsets.UTF_8);
                  FsException denied = new FsException(FsError.ACCESS_DENIED, "denied");
                  if (text.equals("denied")) {
                    sink.unread(name, type, inode, denied);
                  } else {
                    sink.entry(name, type, inode, attributes);
                  }
                  if (text.equals("known")) {
                    sink.entry(name, type, inode, attributes);
                  } else {
                    sink.unread(name, type, inode, denied);
                  }
                });
          }
        };
    try (NodeTable own = new NodeTable(GrowingMemory.ofProcess("own"))) {
      tree = new Tree(twice, own, old -> {});
      for (boolean askingTakesLong : new boolean[] {true, false}) {
        assertThat(names(metadata(askingTakesLong, TTL), 2))
            .containsExactlyInAnyOrder("known", "denied", "both");
      }
    }
  }

  /** A name that was known and has no attributes now was listed twice. */
  @Test
  void list_knownEntryWithoutAttributes_isListedOnce() throws FsException {
    origin.file("a", new byte[1]);
    origin.file("b", new byte[1]);
    MetadataCache metadata = metadata(false, TTL);
    assertThat(names(metadata, 100)).containsExactlyInAnyOrder("a", "b");
    origin.file("c", new byte[1]);
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.toString().equals("a")) {
              throw new FsException(FsError.ACCESS_DENIED, "denied");
            }
          }
        });

    assertThat(names(metadata, 100)).containsExactlyInAnyOrder("a", "b", "c");
  }

  /** The rest of the names was missing, and nothing said so. */
  @Test
  void list_becomesWholeMeanwhile_isAnErrorForWhoGoesOn() throws FsException {
    for (int i = 0; i < 10; i++) {
      origin.file("f" + i, new byte[1]);
    }
    fail(FsError.ACCESS_DENIED, "f");
    MetadataCache metadata = metadata(true, TTL);
    Listings listings = new Listings(tree, metadata, Node::attributes);
    List<ListedEntry> some = new ArrayList<>();
    listings.list(tree.root(), 0, type -> false, entry -> some.size() < 3 && some.add(entry));
    assertThat(some).hasSize(3);
    origin.setGate(new FakeOrigin.Gate() {});
    assertThat(names(metadata, 100)).hasSize(10);

    long after = some.get(2).place();
    assertFails(() -> listings.list(tree.root(), after, type -> false, entry -> true), FsError.IO);
  }

  private void fail(FsError error, String prefix) {
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.toString().startsWith(prefix)) {
              throw new FsException(error, "gate");
            }
          }
        });
  }

  /** There was no memory to let go of the old version: its name leads to nothing that is shown. */
  @Test
  void list_changeFailedHalfWay_isWholeOrAnError() throws FsException {
    origin.file("a", new byte[1]);
    origin.file("b", new byte[1]);
    MetadataCache metadata = metadata(false, TTL);
    assertThat(names(metadata, 100)).containsExactlyInAnyOrder("a", "b");
    whenReplaced =
        () -> {
          throw new OutOfMemoryError("as the virtual machine says it");
        };
    Node before = tree.lookup(tree.root(), name("a"));
    origin.overwrite("a", new byte[1]);
    assertThatThrownBy(() -> tree.lookup(tree.root(), name("a")))
        .isInstanceOf(OutOfMemoryError.class);
    assertFails(() -> names(metadata, 100), FsError.NO_MEMORY);

    whenReplaced = () -> {};
    assertThat(names(metadata, 100)).containsExactlyInAnyOrder("a", "b");
    assertThat(tree.lookup(tree.root(), name("a"))).isNotEqualTo(before);
  }

  /** The next daemon asks again for entries that the tree does not have. */
  @Test
  void list_entriesWithoutAttributes_goesOnUnderAnotherDaemon() throws FsException {
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      origin.file("f" + i, new byte[1]);
      expected.add("f" + i);
    }
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.toString().hashCode() % 2 == 0) {
              throw new FsException(FsError.ACCESS_DENIED, "denied");
            }
          }
        });
    MetadataCache metadata = metadata(true, TTL);
    List<ListedEntry> all = new ArrayList<>();
    int before = -1;
    while (before < all.size()) {
      before = all.size();
      long after = all.isEmpty() ? 0 : all.get(all.size() - 1).place();
      int room = all.size() + 3;
      new Listings(tree, metadata, Node::attributes)
          .list(tree.root(), after, type -> false, entry -> all.size() < room && all.add(entry));
    }
    assertThat(all.stream().map(entry -> new String(entry.name(), StandardCharsets.UTF_8)))
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void list_noRoomForAllNames_isAnErrorEachTime() throws FsException {
    for (int i = 0; i < 10_000; i++) {
      origin.file("f" + i, new byte[1]);
    }
    try (NodeTable small = new NodeTable(GrowingMemory.ofProcess("small", 512 << 10))) {
      tree = new Tree(origin, small, old -> {});
      for (boolean askingTakesLong : new boolean[] {true, false}) {
        MetadataCache metadata = metadata(askingTakesLong, TTL);
        assertFails(() -> names(metadata, 100), FsError.NO_MEMORY);
        assertFails(() -> names(metadata, 100), FsError.NO_MEMORY);
      }
      assertThat(tree.incompleteListings()).isEqualTo(4);
    }
  }

  /** Once the attributes of a listing from a moment ago were believed for a whole ttl more. */
  @Test
  void list_ttlOfZero_asksForAttributesThoughTheNamesAreTheSame() throws FsException {
    origin.file("d/a", new byte[1]);
    Node directory = tree.lookup(tree.root(), name("d"));
    MetadataCache metadata = metadata(false, Duration.ZERO);
    list(metadata, directory, 10, true);
    assertThat(tree.hasSameNames(directory)).isTrue();
    origin.chmod("d/a", 0600);

    List<ListedEntry> all = list(metadata, directory, 10, true);

    assertThat(all).hasSize(1);
    assertThat(all.get(0).leads().attributes().mode() & 0777).isEqualTo(0600);
  }

  @Test
  void list_attributesMayBeOld_asksForManyEntriesAtOnce() throws FsException {
    List<Integer> questions = new ArrayList<>();
    AtomicInteger single = new AtomicInteger();
    Origin counted =
        new DelegatingOrigin(origin) {
          @Override
          public FoundEntries findAll(
              OriginPath directory, List<KnownEntry> entries, List<Attributes> way)
              throws FsException {
            questions.add(entries.size());
            return super.findAll(directory, entries, way);
          }

          @Override
          public Found find(
              OriginPath directory, byte[] name, List<Attributes> way, @Nullable Attributes known)
              throws FsException {
            single.incrementAndGet();
            return super.find(directory, name, way, known);
          }
        };
    for (int i = 0; i < 100; i++) {
      origin.file("d/" + i, new byte[1]);
    }
    try (NodeTable own = new NodeTable(GrowingMemory.ofProcess("own"))) {
      tree = new Tree(counted, own, old -> {});
      Node directory = tree.lookup(tree.root(), name("d"));
      single.set(0);
      assertThat(list(metadata(false, Duration.ZERO), directory, 1000, true)).hasSize(100);
    }
    assertThat(questions).containsExactly(16, 32, 32, 20);
    assertThat(single).hasValue(0);
  }

  @Test
  void list_someChangeBetweenTwoRequests_showsEachNameOnceAsItIs() throws FsException {
    for (int i = 0; i < 100; i++) {
      origin.file("d/" + i, new byte[1]);
    }
    Node directory = tree.lookup(tree.root(), name("d"));
    MetadataCache metadata = metadata(false, Duration.ZERO);
    Listings listings = new Listings(tree, metadata, Node::attributes);
    List<ListedEntry> all = new ArrayList<>();
    listings.list(directory, 0, type -> true, entry -> all.size() < 10 && all.add(entry));
    origin.remove("d/50");
    origin.file("d/60", new byte[7]);
    origin.chmod("d/70", 0600);

    long after = all.get(9).place();
    listings.list(directory, after, type -> true, all::add);

    Map<String, Attributes> shown = new HashMap<>();
    for (ListedEntry entry : all) {
      String name = new String(entry.name(), StandardCharsets.UTF_8);
      assertThat(shown.put(name, entry.leads().attributes())).as(name).isNull();
    }
    assertThat(shown).hasSize(99).doesNotContainKey("50");
    assertThat(shown.get("60").size()).isEqualTo(7);
    assertThat(shown.get("70").mode() & 0777).isEqualTo(0600);
  }

  /** Each entry is looked up where the directory was, and none of them is found. */
  @Test
  void list_directoryIsMovedMeanwhile_hasItsNames() throws FsException {
    origin.file("d/a", new byte[1]);
    origin.file("d/b", new byte[1]);
    Node directory = tree.lookup(tree.root(), name("d"));
    MetadataCache metadata = metadata(false, Duration.ZERO);
    assertThat(list(metadata, directory, 10, true)).hasSize(2);
    List<ListedEntry> taken = new ArrayList<>();
    Listings listings = new Listings(tree, metadata, Node::attributes);

    listings.list(
        directory,
        0,
        type -> {
          if (taken.isEmpty()) {
            origin.move("d", "old");
          }
          return true;
        },
        taken::add);

    assertThat(taken).hasSize(2);
  }

  /** The entries go with the directory: the rest of them is no listing. */
  @Test
  void list_directoryGoesMeanwhile_isStale() throws FsException {
    origin.file("d/a", new byte[1]);
    origin.file("d/b", new byte[1]);
    AtomicBoolean goes = new AtomicBoolean();
    Origin listed =
        new DelegatingOrigin(origin) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            if (goes.get()) {
              tree.lookup(tree.root(), name("d"));
            } else {
              super.list(path, sink);
            }
          }
        };
    try (NodeTable own = new NodeTable(GrowingMemory.ofProcess("own"))) {
      tree = new Tree(listed, own, old -> {});
      Node directory = tree.lookup(tree.root(), name("d"));
      MetadataCache metadata = metadata(false, TTL);
      assertThat(list(metadata, directory, 10, false)).hasSize(2);
      origin.move("d", "old");
      origin.directory("d");
      goes.set(true);

      assertFails(() -> list(metadata, directory, 10, false), FsError.STALE);
    }
  }

  @Test
  void list_fails_saysWhyAndIsDoneAgain() throws FsException {
    origin.file("d/f", new byte[1]);
    Node directory = tree.lookup(tree.root(), name("d"));
    origin.remove("d");
    assertFails(() -> list(metadata(true, TTL), directory, 10, true), FsError.NOT_FOUND);
    origin.file("d/g", new byte[1]);
    assertFails(() -> list(metadata(true, TTL), directory, 10, true), FsError.STALE);
    Node now = tree.lookup(tree.root(), name("d"));
    assertThat(list(metadata(true, TTL), now, 10, true)).hasSize(1);
  }

  private void fail(FsError error) {
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            throw new FsException(error, "gate");
          }
        });
  }

  @Test
  void originDoesNotAnswer_whatIsKnownIsBelievedForAMoment() throws FsException {
    MetadataCache metadata = metadata(false, TTL);
    origin.file("a", new byte[1]);
    assertThat(names(metadata, 100)).containsExactly("a");

    for (FsError error :
        List.of(FsError.IO, FsError.TIMED_OUT, FsError.ORIGIN_SILENT, FsError.UNAVAILABLE)) {
      fail(error);
      Node a = metadata.lookup(tree.root(), name("a"));
      assertThat(metadata.refresh(a)).isTrue();
      assertThat(names(metadata, 100)).containsExactly("a");
      assertThat(metadata.believe(tree.root())).isEqualTo(Duration.ofSeconds(1));
      assertThat(metadata.believeAttributes(a)).isEqualTo(Duration.ofSeconds(1));
      assertFails(() -> metadata.lookup(tree.root(), name("never-seen")), error);
    }

    origin.setGate(new FakeOrigin.Gate() {});
    origin.remove("a");
    assertFails(() -> metadata.lookup(tree.root(), name("a")), FsError.NOT_FOUND);
    later = Duration.ofSeconds(2).toNanos();
    assertThat(metadata.believe(tree.root())).isEqualTo(TTL);
  }

  @Test
  void originRefusesOrNothingMayBeRemembered_isAnError() throws FsException {
    origin.file("a", new byte[1]);
    MetadataCache metadata = metadata(false, TTL);
    Node a = metadata.lookup(tree.root(), name("a"));
    fail(FsError.ACCESS_DENIED);
    assertFails(() -> metadata.lookup(tree.root(), name("a")), FsError.ACCESS_DENIED);
    assertFails(() -> metadata.refresh(a), FsError.ACCESS_DENIED);
    fail(FsError.IO);
    MetadataCache none = metadata(false, Duration.ZERO);
    assertFails(() -> none.lookup(tree.root(), name("a")), FsError.IO);
    assertFails(() -> none.refresh(a), FsError.IO);
  }

  /**
   * A file that gets another version has no current node for as long as the old one is let go of.
   * It is there all the same: "not listed" would have been believed for the time-to-live.
   */
  @Test
  void lookupAndListing_fileIsBeingReplaced_waitForItsNewNode() throws Exception {
    origin.file("f", new byte[1]);
    MetadataCache metadata = metadata(true, TTL);
    assertThat(names(metadata, 7)).containsExactly("f");
    FutureTask<Long> lookup = new FutureTask<>(() -> metadata.lookup(tree.root(), name("f")).id());
    FutureTask<List<String>> listing = new FutureTask<>(() -> names(metadata, 7));
    whenReplaced =
        () -> {
          for (FutureTask<?> task : List.of(lookup, listing)) {
            Thread thread = new Thread(task, "meanwhile");
            thread.start();
            Await.until(
                "it is through, or waits",
                () -> task.isDone() || thread.getState() == Thread.State.TIMED_WAITING);
          }
        };
    origin.file("f", new byte[2]);
    Node now = tree.lookup(tree.root(), name("f"));
    assertThat(lookup.get()).isEqualTo(now.id());
    assertThat(listing.get()).containsExactly("f");
    assertThat(tree.size()).as("the root and the file").isEqualTo(2);
  }
}
