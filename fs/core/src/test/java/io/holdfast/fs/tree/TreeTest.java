package io.holdfast.fs.tree;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class TreeTest {
  private static final int THREADS = 16;

  private final FakeOrigin origin = new FakeOrigin();
  private final List<Node> replaced = new CopyOnWriteArrayList<>();
  private volatile Tree.ChangeListener listener = replaced::add;
  private NodeTable nodes;
  private Tree tree;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree = new Tree(origin, nodes, old -> listener.replaced(old));
  }

  @AfterEach
  void free() {
    nodes.close();
  }

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private Node lookup(String path) throws FsException {
    Node node = tree.root();
    for (String each : path.split("/", -1)) {
      node = tree.lookup(node, name(each));
    }
    return node;
  }

  @Test
  void root_newTree_hasTheGivenIdAndTheEmptyPath() throws FsException {
    assertThat(tree.root().id()).isEqualTo(Tree.ROOT);
    assertThat(tree.root().parent()).isNull();
    assertThat(tree.root().path()).isEqualTo(OriginPath.ROOT);
    assertThat(tree.root().attributes().isDirectory()).isTrue();
    assertThat(tree.node(Tree.ROOT)).isEqualTo(tree.root());
    assertThat(tree.size()).isEqualTo(1);
  }

  @Test
  void lookup_sameVersion_givesTheSameNode() throws FsException {
    origin.file("a/b", new byte[3]);
    Node first = lookup("a/b");
    assertThat(lookup("a/b")).isEqualTo(first);
    assertThat(tree.node(first.id())).isEqualTo(first);
    assertThat(tree.known(tree.node(first.parent().id()), name("b"))).isEqualTo(first);
    assertThat(first.path()).isEqualTo(OriginPath.of("a/b"));
    assertThat(first.attributes().size()).isEqualTo(3);
    assertThat(replaced).isEmpty();
  }

  @Test
  void lookup_missing_failsNotFoundAndLeavesNothing() {
    assertFails(() -> lookup("none"), FsError.NOT_FOUND);
    assertThat(tree.known(tree.root(), name("none"))).isNull();
    assertThat(tree.size()).isEqualTo(1);
  }

  @Test
  void lookup_changedVersion_givesANewNodeAndMarksTheOld() throws FsException {
    origin.file("f", new byte[3]);
    Node old = lookup("f");
    origin.file("f", new byte[4]);
    Node fresh = lookup("f");
    assertThat(fresh).isNotEqualTo(old);
    assertThat(fresh.id()).isGreaterThan(old.id());
    assertThat(old.isStale()).isTrue();
    assertThat(old.attributes().size()).isEqualTo(3);
    assertThat(fresh.isStale()).isFalse();
    assertThat(replaced).containsExactly(old);
    assertFails(() -> tree.node(old.id()), FsError.STALE);
    assertThat(tree.size()).isEqualTo(2);
  }

  @Test
  void lookup_writtenInPlace_givesANewNode() throws FsException {
    origin.file("f", new byte[3]);
    Node old = lookup("f");
    origin.overwrite("f", new byte[] {1});
    assertThat(lookup("f")).isNotEqualTo(old);
    assertThat(replaced).containsExactly(old);
  }

  @Test
  void lookup_deletedFile_failsAndForgetsTheNode() throws FsException {
    origin.file("f", new byte[3]);
    Node old = lookup("f");
    origin.remove("f");
    assertFails(() -> lookup("f"), FsError.NOT_FOUND);
    assertThat(old.isStale()).isTrue();
    assertThat(replaced).containsExactly(old);
    assertThat(tree.size()).isEqualTo(1);
    assertFails(() -> lookup("f"), FsError.NOT_FOUND);
    assertThat(replaced).as("told once").hasSize(1);
  }

  @Test
  void lookup_changedType_givesANewNode() throws FsException {
    origin.file("e", new byte[3]);
    Node file = lookup("e");
    origin.directory("e");
    Node directory = lookup("e");
    origin.symlink(name("e"), name("target"));
    Node link = lookup("e");
    assertThat(directory.attributes().isDirectory()).isTrue();
    assertThat(link.attributes().isSymlink()).isTrue();
    assertThat(replaced).containsExactly(file, directory);
  }

  @Test
  void lookup_changedDirectory_keepsTheNodeWithFreshAttributes() throws FsException {
    origin.file("d/f", new byte[1]);
    Node directory = lookup("d");
    long changed = directory.attributes().changed();
    origin.file("d/g", new byte[1]);
    assertThat(lookup("d")).isEqualTo(directory);
    assertThat(directory.attributes().changed()).isGreaterThan(changed);
    assertThat(replaced).isEmpty();
  }

  @Test
  void lookup_directoryMadeAgain_givesANewNodeAndNothingOfTheOld() throws FsException {
    origin.file("d/f", new byte[1]);
    Node directory = lookup("d");
    Node file = lookup("d/f");
    origin.remove("d");
    origin.file("d/f", new byte[1]);
    assertThat(lookup("d")).isNotEqualTo(directory);
    assertThat(replaced).containsExactly(directory, file);
    assertThat(lookup("d/f")).isNotEqualTo(file);
  }

  @Test
  void lookup_directoryGone_takesAllWithinWithIt() throws FsException {
    origin.file("d/e/f", new byte[1]);
    origin.file("d/g", new byte[1]);
    origin.file("other/f", new byte[1]);
    Set<Node> within = Set.of(lookup("d"), lookup("d/e"), lookup("d/e/f"), lookup("d/g"));
    Node other = lookup("other/f");
    origin.remove("d");
    assertFails(() -> lookup("d"), FsError.NOT_FOUND);
    assertThat(replaced).containsExactlyInAnyOrderElementsOf(within);
    assertThat(within).allSatisfy(node -> assertThat(node.isStale()).isTrue());
    assertThat(other.isStale()).isFalse();
    assertThat(tree.size()).isEqualTo(3);
  }

  @Test
  void lookup_directoryBecameAFile_takesAllWithinWithIt() throws FsException {
    origin.file("d/f", new byte[1]);
    Node directory = lookup("d");
    Node file = lookup("d/f");
    origin.file("d", new byte[1]);
    assertThat(lookup("d").attributes().isRegular()).isTrue();
    assertThat(replaced).containsExactlyInAnyOrder(directory, file);
  }

  @Test
  void lookup_fileWhoseDirectoryBecameAFile_goesWithTheDirectory() throws FsException {
    origin.file("d/f", new byte[1]);
    Node directory = lookup("d");
    Node file = lookup("d/f");
    origin.file("d", new byte[1]);
    assertFails(() -> tree.lookup(directory, name("f")), FsError.NOT_DIRECTORY);
    assertThat(file.isStale()).isFalse();
    lookup("d");
    assertThat(file.isStale()).isTrue();
  }

  /** Each file by itself would leave an empty directory, which there never was. */
  @Test
  void lookup_fileWhoseDirectoryWasMoved_goesWithTheDirectory() throws FsException {
    origin.file("d/f", new byte[1]);
    Node directory = lookup("d");
    Node file = lookup("d/f");
    origin.move("d", "e");
    assertFails(() -> tree.lookup(directory, name("f")), FsError.NOT_FOUND);
    origin.directory("d");
    assertFails(() -> tree.lookup(directory, name("f")), FsError.NOT_FOUND);
    assertThat(tree.known(directory, name("f"))).isEqualTo(file);
    lookup("d");
    assertThat(file.isStale()).isTrue();
    assertThat(directory.isStale()).isTrue();
  }

  /** The name must lead nowhere while whatever stands for the old version is let go of. */
  @Test
  void listener_changedVersion_isToldBeforeTheNewNodeTakesTheName() throws FsException {
    origin.file("f", new byte[3]);
    Node old = lookup("f");
    List<Boolean> observed = new ArrayList<>();
    listener =
        node -> {
          observed.add(node.equals(old) && node.isStale());
          observed.add(tree.known(tree.root(), name("f")) == null);
          observed.add(tree.size() == 2);
        };
    origin.file("f", new byte[4]);
    lookup("f");
    assertThat(observed).containsExactly(true, true, true);
  }

  /** Nobody gets the new version while the old one is being let go of. */
  @Test
  void lookup_whileTheListenerIsAtWork_waitsForIt() throws Exception {
    origin.file("f", new byte[3]);
    lookup("f");
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    AtomicBoolean left = new AtomicBoolean();
    listener =
        node -> {
          entered.countDown();
          Await.latch(leave);
          left.set(true);
        };
    origin.file("f", new byte[4]);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      Future<Node> first = threads.submit(() -> lookup("f"));
      Await.latch(entered);
      Future<Boolean> second =
          threads.submit(
              () -> {
                lookup("f");
                return left.get();
              });
      // a lookup of another name is not held up
      origin.file("other", new byte[1]);
      lookup("other");
      leave.countDown();
      assertThat(second.get(60, TimeUnit.SECONDS)).isTrue();
      assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo(lookup("f"));
    } finally {
      threads.shutdown();
    }
  }

  /**
   * The listener may wait for those who answer the kernel, one of whom waits here: the daemon stood
   * still for ever.
   */
  @Test
  void lookup_whileTheListenerWaitsForIt_isStale() throws Exception {
    origin.file("f", new byte[1]);
    lookup("f");
    CountDownLatch atWork = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    listener =
        old -> {
          atWork.countDown();
          Await.latch(answered);
        };
    origin.file("f", new byte[2]);
    ExecutorService threads = Executors.newFixedThreadPool(1);
    try {
      Future<Node> changes = threads.submit(() -> lookup("f"));
      Await.latch(atWork);
      assertFails(() -> lookup("f"), FsError.STALE);
      answered.countDown();
      assertThat(changes.get(60, TimeUnit.SECONDS).attributes().size()).isEqualTo(2);
    } finally {
      answered.countDown();
      Await.end(threads);
    }
  }

  @Test
  void forEachBelow_untilNotTaken_givesWhatIsKnown() throws FsException {
    origin.file("a/b/c", new byte[1]);
    origin.file("a/d", new byte[1]);
    origin.file("e", new byte[1]);
    lookup("a/b/c");
    lookup("a/d");
    lookup("e");
    List<String> below = new ArrayList<>();
    tree.forEachBelow(lookup("a"), node -> below.add(node.path().toString()));
    assertThat(below).containsExactlyInAnyOrder("a/b", "a/b/c", "a/d");
    below.clear();
    tree.forEachBelow(tree.root(), node -> below.add(node.path().toString()) && below.size() < 2);
    assertThat(below).hasSize(2);
  }

  @Test
  void lookup_byManyThreadsAtOnce_givesOneNode() throws Exception {
    origin.file("f", new byte[3]);
    for (int round = 0; round < 50; round++) {
      origin.file("f", new byte[round]);
      List<Node> found = together(() -> lookup("f"));
      assertThat(new HashSet<>(found)).hasSize(1);
      assertThat(found.get(0).isStale()).isFalse();
      assertThat(tree.size()).isEqualTo(2);
      assertThat(replaced).hasSize(round);
    }
  }

  private static <T> List<T> together(Callable<T> task) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      CountDownLatch start = new CountDownLatch(1);
      List<Future<T>> futures = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        futures.add(
            threads.submit(
                () -> {
                  Await.latch(start);
                  return task.call();
                }));
      }
      start.countDown();
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get(60, TimeUnit.SECONDS));
      }
      return results;
    } finally {
      threads.shutdown();
    }
  }

  /** Each node that ever had the name is told to the listener once, but for the last. */
  @Test
  void lookup_whileTheFileKeepsChanging_replacesEachNodeOnce() throws Exception {
    origin.file("f", new byte[0]);
    Set<Node> seen = Collections.synchronizedSet(new HashSet<>());
    AtomicBoolean ended = new AtomicBoolean();
    ExecutorService changer = Executors.newSingleThreadExecutor();
    Future<?> changes =
        changer.submit(
            () -> {
              for (int i = 1; i <= 300; i++) {
                origin.file("f", new byte[i]);
              }
              ended.set(true);
            });
    together(
        () -> {
          while (!ended.get()) {
            Node node = lookup("f");
            assertThat(node.version()).isEqualTo(node.attributes().version());
            seen.add(node);
          }
          return true;
        });
    changes.get(60, TimeUnit.SECONDS);
    changer.shutdown();
    Node last = lookup("f");
    seen.add(last);
    assertThat(last.attributes().size()).isEqualTo(300);
    assertThat(replaced).doesNotHaveDuplicates().doesNotContain(last);
    seen.remove(last);
    assertThat(replaced).containsAll(seen);
    assertThat(seen).allSatisfy(node -> assertThat(node.isStale()).isTrue());
    assertThat(tree.size()).isEqualTo(2);
  }

  /**
   * A node made beneath a directory that is gone would never be let go of: no lookup of its
   * directory finds it again.
   */
  @Test
  void lookup_whoseDirectoryIsReplacedMeanwhile_leavesNoNodeBeneathTheOldOne() throws FsException {
    origin.file("d/f", new byte[1]);
    Node directory = lookup("d");
    AtomicBoolean once = new AtomicBoolean();
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            if (path.equals(OriginPath.of("d/f")) && once.compareAndSet(false, true)) {
              origin.file("d", new byte[1]);
              lookup("d");
              origin.remove("d");
              origin.file("d/f", new byte[1]);
              lookup("d");
            }
          }
        });
    assertFails(() -> tree.lookup(directory, name("f")), FsError.STALE, FsError.NOT_FOUND);
    assertThat(directory.isStale()).isTrue();
    assertThat(tree.size()).as("root and the new directory").isEqualTo(2);
  }

  /**
   * A refresh, or a peer, names a path by what the dataset is now; here a file was a moment ago.
   */
  @Test
  void directory_knownAsAFile_isAskedFor() throws FsException {
    origin.file("a", new byte[3]);
    Node file = lookup("a");
    origin.remove("a");
    origin.file("a/b", new byte[3]);
    assertFails(() -> tree.lookup(file, name("b")), FsError.STALE, FsError.NOT_DIRECTORY);
    Node directory = tree.directory(tree.root(), name("a"));
    assertThat(directory.attributes().isDirectory()).isTrue();
    assertThat(tree.directory(tree.root(), name("a"))).isEqualTo(directory);
    assertThat(lookup("a/b").parent()).isEqualTo(directory);
  }

  @Test
  void lookup_directoryBecameASymlink_isGone() throws FsException {
    origin.file("a/b", new byte[3]);
    Node directory = lookup("a/b").parent();
    origin.remove("a");
    origin.symlink(name("a"), name("elsewhere"));
    assertFails(() -> tree.lookup(directory, name("b")), FsError.NOT_FOUND);
    lookup("a");
    assertThat(tree.known(directory, name("b"))).isNull();
  }

  @Test
  void refresh_sameContent_bringsFreshAttributes() throws FsException {
    origin.directory("d");
    Node node = lookup("d");
    Attributes before = node.attributes();
    origin.file("d/f", new byte[1]);
    assertThat(tree.refresh(node)).isTrue();
    assertThat(node.attributes().modified()).isGreaterThan(before.modified());
  }

  @Test
  void refresh_otherContent_isFalseAndKeepsTheVersion() throws FsException {
    origin.file("f", new byte[3]);
    Node node = lookup("f");
    origin.file("f", new byte[4]);
    assertThat(tree.refresh(node)).isFalse();
    assertThat(node.attributes().size()).isEqualTo(3);
    assertThat(node.isStale()).as("only a lookup replaces a node").isFalse();
    assertThat(replaced).isEmpty();
  }

  @Test
  void refresh_goneFile_isFalse() throws FsException {
    origin.file("d/f", new byte[3]);
    Node node = lookup("d/f");
    origin.remove("d/f");
    assertThat(tree.refresh(node)).isFalse();
    origin.file("d", new byte[3]);
    assertThat(tree.refresh(node)).isFalse();
  }

  /**
   * A name that leads through a symlink by now leads nowhere, like one that leads through a file.
   */
  @Test
  void refresh_directoryBecameASymlink_isFalse() throws FsException {
    origin.file("d/f", new byte[3]);
    Node node = lookup("d/f");
    origin.remove("d");
    origin.file("elsewhere/f", new byte[3]);
    origin.symlink(name("d"), name("elsewhere"));
    assertThat(tree.refresh(node)).isFalse();
  }

  @Test
  void lookupAndRefresh_originFails_sayWhyAndKeepTheNode() throws FsException {
    origin.file("f", new byte[3]);
    Node node = lookup("f");
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) throws FsException {
            throw new FsException(FsError.TIMED_OUT, path + ": hangs");
          }
        });
    assertFails(() -> lookup("f"), FsError.TIMED_OUT);
    assertFails(() -> tree.refresh(node), FsError.TIMED_OUT);
    assertThat(tree.known(tree.root(), name("f"))).isEqualTo(node);
    assertThat(replaced).isEmpty();
  }

  @Test
  void known_lookup_asksTheOriginForNothing() throws FsException {
    origin.file("f", new byte[3]);
    Node node = lookup("f");
    long before = origin.stats();
    assertThat(tree.known(tree.root(), name("f"))).isEqualTo(node);
    assertThat(tree.known(tree.root(), name("g"))).isNull();
    assertThat(origin.stats()).isEqualTo(before);
  }

  @Test
  void knownWithin_directory_givesItselfFirst() throws FsException {
    origin.file("d/e/f", new byte[1]);
    origin.file("dd/f", new byte[1]);
    Node directory = lookup("d");
    Node file = lookup("d/e/f");
    lookup("dd/f");
    assertThat(tree.knownWithin(directory))
        .hasSize(3)
        .startsWith(directory)
        .contains(file, lookup("d/e"));
    assertThat(tree.knownWithin(file)).containsExactly(file);
    assertThat(tree.knownWithin(tree.root())).hasSize(6);
  }

  @Test
  void path_namesOfAnyBytes_areJoined() throws FsException {
    byte[] raw = {(byte) 0xff, 'x', (byte) 0x80};
    origin.file(OriginPath.of("d").child(raw).bytes(), new byte[1]);
    Node node = tree.lookup(lookup("d"), raw);
    assertThat(node.path()).isEqualTo(OriginPath.of("d").child(raw));
    assertThat(node.name()).isEqualTo(raw);
  }
}
