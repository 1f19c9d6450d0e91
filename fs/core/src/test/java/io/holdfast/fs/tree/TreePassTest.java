package io.holdfast.fs.tree;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Boot;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Passes over the whole tree, as scans and refreshes make them. */
final class TreePassTest {
  private static final long NANOS_OF_2024 = 1_704_067_200_000_000_000L;
  private static final long ACCESSED = NANOS_OF_2024 + 7;

  private final FakeOrigin origin = new FakeOrigin();
  private final List<String> changes = new CopyOnWriteArrayList<>();
  private final List<String> reached = new CopyOnWriteArrayList<>();
  private final List<String> replaced = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newFixedThreadPool(2);
  private NodeTable nodes;
  private Tree tree;
  private long now = 1;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree = new Tree(origin, nodes, old -> replaced.add(old.path().toString()));
  }

  @AfterEach
  void free() {
    Await.end(threads);
    nodes.close();
  }

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private TreePass begin() {
    return new TreePass(
        tree,
        new Moment(++now, NANOS_OF_2024, Boot.id()),
        new TreePass.ChangeSink() {
          @Override
          public void changed(Node directory, byte[] name, boolean stays) {
            changes.add(directory.path().child(name) + (stays ? " stays" : ""));
          }

          @Override
          public void added(Node directory, byte[] name) {}

          @Override
          public void otherNames(Node directory) {
            changes.add(directory.path() + " has other names");
          }

          @Override
          public void found(Node directory, byte[] name, Node found) {
            if (found.attributes().isDirectory()) {
              reached.add(found.path().toString());
            }
          }
        });
  }

  private long pass() throws FsException {
    TreePass pass = begin();
    run(pass);
    return pass.different();
  }

  private void run(TreePass pass) throws FsException {
    new TreeScan(origin, tree, threads).run(tree.root(), pass, (in, name, is) -> {}, () -> true);
  }

  /**
   * The kernel may have been told old attributes before the tree knew better, so it is told again.
   */
  @Test
  void pass_overWhatIsAsKnown_tellsOfEachDirectoryAllTheSame() throws FsException {
    origin.file("a/b/f", new byte[1]);
    pass();
    changes.clear();
    reached.clear();
    assertThat(pass()).isZero();
    assertThat(changes).isEmpty();
    assertThat(reached).containsExactlyInAnyOrder("a", "a/b");
  }

  /** The heap was full for a moment: files below a replaced directory stayed pinned for ever. */
  @Test
  void lookup_releaseOfAReplacedFileFails_theOthersAreReleased() throws FsException {
    for (String file : List.of("d/a", "d/b", "d/c")) {
      origin.file(file, new byte[1]);
    }
    AtomicBoolean full = new AtomicBoolean(true);
    List<String> released = new ArrayList<>();
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("nodes"))) {
      Tree other =
          new Tree(
              origin,
              table,
              old -> {
                if (full.getAndSet(false)) {
                  throw new OutOfMemoryError("as the virtual machine says it");
                }
                released.add(old.path().toString());
              });
      TreePass pass = new TreePass(other, Moment.now(), TreePass.ChangeSink.NONE);
      new TreeScan(origin, other, threads)
          .run(other.root(), pass, (in, name, is) -> {}, () -> true);
      origin.remove("d");
      origin.directory("d");

      assertThatThrownBy(() -> other.lookup(other.root(), name("d")))
          .isInstanceOf(OutOfMemoryError.class);

      assertThat(released).containsExactlyInAnyOrder("d/a", "d/b", "d/c");
    }
  }

  /** The old version stayed then: the refresh ended well, and users went on to read it. */
  @Test
  void pass_directoryGetsOtherRightsMeanwhile_takesWhatIsInItAllTheSame() throws FsException {
    origin.file("a/f", new byte[1]);
    pass();
    origin.file("a/f", new byte[2]);
    changeRightsAtQuestion(2, 2);
    TreePass pass = begin();
    run(pass);
    pass.requireSettled();
    assertThat(known("a/f").attributes().size()).isEqualTo(2);
  }

  @Test
  void pass_directoryGetsOtherRightsAllTheTime_saysThatItDoesNotKnow() throws FsException {
    origin.file("a/f", new byte[1]);
    pass();
    origin.file("a/f", new byte[2]);
    changeRightsAtQuestion(2, Integer.MAX_VALUE);
    TreePass pass = begin();
    run(pass);
    pass.requireWhole();
    assertFails(pass::requireSettled, FsError.STALE);
  }

  /** Changes the rights of the directory {@code a} when the origin is asked for {@code a/f}. */
  private void changeRightsAtQuestion(int first, int last) {
    AtomicInteger questions = new AtomicInteger();
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void afterStat(OriginPath path) {
            int question = path.equals(OriginPath.of("a/f")) ? questions.incrementAndGet() : 0;
            if (question >= first && question <= last) {
              origin.chmod("a", question % 2 == 0 ? 0700 : 0755);
            }
          }
        });
  }

  private Node known(String path) {
    Node node = tree.root();
    for (String each : path.split("/", -1)) {
      node = node == null ? null : tree.known(node, name(each));
    }
    return node;
  }

  private List<String> entries(Node directory) {
    List<String> names = new ArrayList<>();
    tree.forEachEntry(
        directory, 0, entry -> names.add(new String(entry.name(), StandardCharsets.UTF_8)));
    return names;
  }

  @Test
  void pass_newTree_knowsEverythingAndThatItIsAll() throws FsException {
    for (int i = 0; i < 3000; i++) {
      origin.file("a/f" + i, new byte[i % 7]);
    }
    origin.symlink(name("a/b/link"), name("f1"));
    assertThat(pass()).isZero();
    assertThat(tree.size()).isEqualTo(3004);
    assertThat(entries(known("a"))).hasSize(3001).doesNotHaveDuplicates();
    assertThat(tree.listedAt(tree.root())).isEqualTo(now);
    assertThat(tree.listedAt(known("a/b"))).isEqualTo(now);
    assertThat(known("a/f8").attributes().size()).isEqualTo(1);
    long asked = origin.stats();
    assertThat(known("a/none")).isNull();
    assertThat(origin.stats()).isEqualTo(asked);
  }

  @Test
  void pass_again_findsWhatIsNewChangedAndGone() throws FsException {
    for (String file : List.of("kept", "changed", "gone", "d/inner", "e/f/deep")) {
      origin.file(file, new byte[3]);
    }
    pass();
    changes.clear();
    Node kept = known("kept");
    origin.file("changed", new byte[4]);
    origin.remove("gone");
    origin.remove("e");
    origin.file("d/new", new byte[1]);
    assertThat(pass()).as("d has another time").isEqualTo(4);
    assertThat(changes)
        .containsExactlyInAnyOrder(
            "changed", "gone", "e", "d stays", ". has other names", "d has other names");
    assertThat(replaced).containsExactlyInAnyOrder("changed", "gone", "e", "e/f", "e/f/deep");
    assertThat(known("kept")).isEqualTo(kept);
    assertThat(entries(tree.root())).containsExactlyInAnyOrder("kept", "changed", "d");
    assertThat(entries(known("d"))).containsExactlyInAnyOrder("inner", "new");
    changes.clear();
    assertThat(pass()).isZero();
    assertThat(changes).isEmpty();
  }

  @Test
  void found_otherTimeOfAccessAlone_isNoChange() throws FsException {
    origin.file("file", new byte[3]);
    pass();
    changes.clear();
    Node file = known("file");
    Attributes before = file.attributes();

    TreePass pass = begin();
    pass.found(tree.root(), name("file"), accessed(before));
    assertThat(file.attributes().accessed()).isEqualTo(ACCESSED);
    assertThat(pass.different()).isZero();
    assertThat(changes).isEmpty();
  }

  @Test
  void found_otherAttributesOfTheSameDirectory_staysAndIsAChange() throws FsException {
    origin.directory("d");
    pass();
    changes.clear();
    Node directory = known("d");
    origin.chmod("d", 0700);

    assertThat(pass()).isEqualTo(1);
    assertThat(changes).containsExactly("d stays");
    assertThat(known("d")).isEqualTo(directory);
  }

  private static Attributes accessed(Attributes of) {
    return new Attributes(
        of.mode(),
        of.links(),
        of.uid(),
        of.gid(),
        of.device(),
        of.inode(),
        of.size(),
        of.blocks(),
        ACCESSED,
        of.modified(),
        of.changed(),
        of.etag());
  }

  /**
   * A file's owner may set its time of modification, but nobody may set that of its last change.
   */
  @Test
  void pass_onlyTheTimeOfChangeIsOther_findsAnotherVersion() throws FsException {
    origin.file("file", new byte[3]);
    pass();
    changes.clear();
    Node file = known("file");

    Version rewritten = origin.rewriteKeepingTime("file", new byte[] {1, 2, 3});

    assertThat(pass()).isEqualTo(1);
    assertThat(changes).containsExactly("file");
    assertThat(file.isStale()).isTrue();
    assertThat(known("file").version()).isEqualTo(rewritten);
    assertThat(rewritten.modified()).isEqualTo(file.version().modified());
  }

  /** Whether bytes have changed as well, a store does not tell. */
  @Test
  void pass_otherMode_findsAnotherVersionOfAFileAndTheSameDirectory() throws FsException {
    origin.file("d/file", new byte[3]);
    pass();
    changes.clear();
    Node directory = known("d");
    Node file = known("d/file");

    origin.chmod("d", 0700);
    origin.chmod("d/file", 0600);

    assertThat(pass()).isEqualTo(2);
    assertThat(changes).containsExactlyInAnyOrder("d stays", "d/file");
    assertThat(known("d")).isEqualTo(directory);
    assertThat(known("d/file")).isNotEqualTo(file);
    assertThat(known("d/file").attributes().mode() & 0777).isEqualTo(0600);
  }

  @Test
  void pass_entryThatCannotBeKnown_leavesTheDirectoryOpen() throws FsException {
    origin.file("d/bad", new byte[3]);
    origin.file("e/good", new byte[3]);
    AtomicBoolean fails = new AtomicBoolean(true);
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (fails.get() && path.equals(OriginPath.of("d/bad"))) {
              throw new FsException(FsError.ACCESS_DENIED, "denied");
            }
          }
        });
    TreePass denied = begin();
    run(denied);
    denied.requireWhole();
    assertThat(tree.listedAt(known("d"))).isZero();
    assertThat(tree.listedAt(known("e"))).isEqualTo(now);
    fails.set(false);
    pass();
    assertThat(tree.listedAt(known("d"))).isEqualTo(now);
  }

  /** One directory counts once, however many of its entries fail. */
  @Test
  void pass_entriesThatCannotBeRead_isNotWhole() throws FsException {
    origin.file("d/bad", new byte[3]);
    origin.file("d/worse", new byte[3]);
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.toString().startsWith("d/")) {
              throw new FsException(FsError.IO, path + ": Input/output error");
            }
          }
        });
    TreePass pass = begin();
    run(pass);
    assertThatThrownBy(pass::requireWhole)
        .hasMessage("1 directories could not be listed whole: d/bad: Input/output error");
    assertThat(tree.listedAt(known("d"))).isZero();
  }

  /** An entry that a listing lacks has gone only if the origin, asked by name, does not have it. */
  @Test
  void complete_entryThatWasMissedButIsThere_staysKnown() throws FsException {
    origin.file("f", new byte[3]);
    pass();
    Node f = known("f");
    TreePass pass =
        new TreePass(tree, new Moment(++now, NANOS_OF_2024, Boot.id()), TreePass.ChangeSink.NONE);
    pass.complete(tree.root());
    assertThat(known("f")).isEqualTo(f);
    assertThat(pass.different()).isZero();
  }

  @Test
  void hasSameNames_directoryAsItWas_isToldByItsTimeAlone() throws FsException {
    origin.file("d/f", new byte[3]);
    pass();
    assertThat(tree.hasSameNames(known("d"))).isTrue();
    origin.overwrite("d", new byte[0]); // another time
    assertThat(tree.hasSameNames(known("d"))).isFalse();
    pass();
    assertThat(tree.hasSameNames(known("d"))).isTrue();
    tree.forgetListing(known("d"));
    assertThat(tree.hasSameNames(known("d"))).isFalse();
  }

  /** A change just before the listing may share its time with one just behind it. */
  @Test
  void hasSameNames_changedJustBeforeItWasListed_isNotTrusted() throws FsException {
    origin.file("d/f", new byte[3]);
    tree.lookup(tree.root(), name("d"));
    long changed = known("d").attributes().changed();
    TreePass pass =
        new TreePass(
            tree, new Moment(++now, changed + 1_000_000_000, Boot.id()), TreePass.ChangeSink.NONE);
    pass.complete(known("d"));
    assertThat(tree.listedAt(known("d"))).isEqualTo(now);
    assertThat(tree.hasSameNames(known("d"))).isFalse();
  }

  @Test
  void pass_lookupsAtTheSameTime_makeNoNameTwice() throws Exception {
    int count = 5000;
    for (int i = 0; i < count; i++) {
      origin.file("d/f" + i, new byte[1]);
    }
    FutureTask<Long> lookups =
        new FutureTask<>(
            () -> {
              Node directory = tree.lookup(tree.root(), name("d"));
              long found = 0;
              for (int i = count - 1; i >= 0; i--) {
                found += (int) tree.lookup(directory, name("f" + i)).attributes().size();
              }
              return found;
            });
    Thread thread = new Thread(lookups);
    thread.start();
    pass();
    pass();
    assertThat(lookups.get()).isEqualTo((long) count);
    thread.join();
    assertThat(entries(known("d"))).hasSize(count).doesNotHaveDuplicates();
    assertThat(tree.size()).isEqualTo(count + 2);
    assertThat(replaced).isEmpty();
  }

  /**
   * A directory of which the tree could not hold all was listed short, and remembered as whole: 24
   * of 60 directories, without a word.
   */
  @Test
  void names_noRoomForAll_theListingFailsAndIsNotRemembered() throws FsException {
    try (NodeTable small = new NodeTable(GrowingMemory.ofProcess("small", 512 << 10))) {
      Tree narrow = new Tree(origin, small, old -> {});
      for (int i = 0; i < 10_000; i++) {
        origin.file((i < 100 ? "few/f" : "many/f") + i, new byte[1]);
      }
      TreePass pass = new TreePass(narrow, Moment.now(), TreePass.ChangeSink.NONE);
      new TreeScan(origin, narrow, threads)
          .run(narrow.root(), pass, (in, name, is) -> {}, () -> true);

      assertFails(pass::requireWhole, FsError.NO_MEMORY);
      assertThat(narrow.incompleteListings()).isEqualTo(1);
      Node many = Objects.requireNonNull(narrow.known(narrow.root(), name("many")));
      Node few = Objects.requireNonNull(narrow.known(narrow.root(), name("few")));
      assertThat(narrow.listedAt(many)).isZero();
      assertThat(narrow.listedAt(few)).isNotZero();
    }
  }

  /**
   * A replaced node has lost its name, even if there is no room for the node that takes the name.
   */
  @Test
  void version_noRoomForTheNext_theDirectoryIsNotWholeAnyMore() throws FsException {
    try (NodeTable small = new NodeTable(GrowingMemory.ofProcess("small", 512 << 10))) {
      Tree narrow = new Tree(origin, small, old -> {});
      origin.file("file", new byte[1]);
      TreePass pass = new TreePass(narrow, Moment.now(), TreePass.ChangeSink.NONE);
      new TreeScan(origin, narrow, threads)
          .run(narrow.root(), pass, (in, name, is) -> {}, () -> true);
      assertThat(narrow.listedAt(narrow.root())).isNotZero();
      Attributes attributes = origin.stat(OriginPath.of(name("file")));
      assertFails(
          () -> {
            while (true) {
              small.add(Tree.ROOT, name("filling"), attributes);
            }
          },
          FsError.NO_MEMORY);

      origin.file("file", new byte[2]);
      assertFails(() -> narrow.lookup(narrow.root(), name("file")), FsError.NO_MEMORY);
      assertThat(narrow.listedAt(narrow.root())).isZero();
    }
  }
}
