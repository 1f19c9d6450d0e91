package io.holdfast.fs.tree;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Once the origin was asked under the lock of a name. If it took longer than a lookup waits for a
 * name, every lookup of that name, or of one with the same lock, got an error.
 */
final class LateAnswersTest {
  private static final byte[] NAME = name("f");
  private static final int READERS = 4;

  private final FakeOrigin origin = new FakeOrigin();
  private final List<Node> replaced = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch answered = new CountDownLatch(1);
  private final CountDownLatch arrives = new CountDownLatch(1);
  private NodeTable nodes;
  private Tree tree;

  @BeforeEach
  void create() throws FsException {
    nodes = new NodeTable(GrowingMemory.ofProcess("nodes"));
    tree = new Tree(origin, nodes, replaced::add);
  }

  @AfterEach
  void free() {
    arrives.countDown();
    Await.end(threads);
    nodes.close();
  }

  private static byte[] name(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private Node lookup(byte[] name) throws FsException {
    return tree.lookup(tree.root(), name);
  }

  private Future<Node> lookupWithLateAnswer(int question) {
    return withLateAnswer(question, () -> lookup(NAME));
  }

  /** Holds an answer of the origin about the name up until {@link #arrives} is open. */
  private <T> Future<T> withLateAnswer(int question, Callable<T> asker) {
    AtomicInteger questions = new AtomicInteger();
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void afterStat(OriginPath path) {
            if (path.equals(OriginPath.of("f")) && questions.incrementAndGet() == question) {
              answered.countDown();
              Await.latch(arrives);
            }
          }
        });
    Future<T> late = threads.submit(asker);
    Await.latch(answered);
    return late;
  }

  private static <T> T outcome(Future<T> future) throws Exception {
    return future.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS);
  }

  /** Returns another name of the root whose changes take the same lock. */
  private String nameOfTheSameLock() {
    int lock = Names.lockOf(tree.root(), NAME);
    int i = 0;
    while (Names.lockOf(tree.root(), name("g" + i)) != lock) {
      i++;
    }
    return "g" + i;
  }

  @Test
  void lookup_whileTheOriginIsAskedAgainForTheName_isAnswered() throws Exception {
    origin.file("f", new byte[1]);
    Node old = lookup(NAME);
    origin.file("f", new byte[2]);
    Future<Node> late = lookupWithLateAnswer(2);
    Node now = lookup(NAME);
    assertThat(now.attributes().size()).isEqualTo(2);
    arrives.countDown();
    assertThat(outcome(late)).isEqualTo(now);
    assertThat(replaced).containsExactly(old);
  }

  @Test
  void lookup_whileTheOriginIsAskedAgainForANameOfTheSameLock_isAnswered() throws Exception {
    String other = nameOfTheSameLock();
    origin.file("f", new byte[1]);
    origin.file(other, new byte[1]);
    Node old = lookup(NAME);
    Node otherOld = lookup(name(other));
    origin.file("f", new byte[2]);
    Future<Node> late = lookupWithLateAnswer(2);
    origin.file(other, new byte[2]);
    assertThat(lookup(name(other)).attributes().size()).isEqualTo(2);
    origin.remove(other);
    assertFails(() -> lookup(name(other)), FsError.NOT_FOUND);
    arrives.countDown();
    assertThat(outcome(late).attributes().size()).isEqualTo(2);
    assertThat(replaced).hasSize(3).startsWith(otherOld).endsWith(old);
  }

  @Test
  void listed_whileTheOriginIsAskedAgainForTheName_isAnswered() throws Exception {
    origin.file("f", new byte[1]);
    lookup(NAME);
    origin.file("f", new byte[2]);
    Future<Node> late = lookupWithLateAnswer(2);
    Node now = tree.listed(tree.root(), NAME, origin.stat(OriginPath.of("f")));
    assertThat(now.attributes().size()).isEqualTo(2);
    arrives.countDown();
    assertThat(outcome(late)).isEqualTo(now);
  }

  /**
   * An answer that the directory is the same one counts only if its name leads to the same node as
   * before.
   */
  @Test
  void answer_thatTheDirectoryIsStillThere_doesNotRemoveWhatHasComeSince() throws Exception {
    origin.file("f/a", new byte[1]);
    Node directory = lookup(NAME);
    tree.lookup(directory, name("a"));
    origin.remove("f/a");
    AtomicBoolean once = new AtomicBoolean();
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void afterStat(OriginPath path) {
            if (path.equals(OriginPath.of("f")) && once.compareAndSet(false, true)) {
              answered.countDown();
              Await.latch(arrives);
            }
          }
        });
    Future<Node> late = threads.submit(() -> tree.lookup(directory, name("a")));
    Await.latch(answered);
    origin.file("f/a", new byte[2]);
    Node now = tree.lookup(directory, name("a"));
    arrives.countDown();
    assertThat(outcome(late)).isEqualTo(now);
    assertThat(now.attributes().size()).isEqualTo(2);
    assertThat(now.isStale()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void answer_olderThanWhatIsKnownByNow_isNotTaken(int question) throws Exception {
    origin.file("f", new byte[1]);
    Node old = lookup(NAME);
    origin.file("f", new byte[2]);
    Future<Node> late = lookupWithLateAnswer(question);
    origin.file("f", new byte[3]);
    Node now = lookup(NAME);
    arrives.countDown();
    assertThat(outcome(late)).isEqualTo(now);
    assertThat(now.attributes().size()).isEqualTo(3);
    assertThat(tree.known(tree.root(), NAME)).isEqualTo(now);
    assertThat(replaced).containsExactly(old);
  }

  /** A directory stays the same one: its attributes alone are younger. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void attributes_olderThanThoseKnownByNow_areNotTaken(boolean byName) throws Exception {
    origin.directory("f");
    Node directory = lookup(NAME);
    origin.chmod("f", 0700);
    Future<?> late =
        withLateAnswer(1, () -> byName ? lookup(NAME) : (Object) tree.refresh(directory));
    origin.chmod("f", 0750);
    assertThat(tree.refresh(directory)).isTrue();
    arrives.countDown();
    assertThat(outcome(late)).isEqualTo(byName ? directory : true);
    assertThat(directory.attributes().mode() & 0777).isEqualTo(0750);
  }

  @Test
  void attributes_listedBeforeThoseKnownByNow_areNotTaken() throws FsException {
    origin.directory("f");
    Node directory = lookup(NAME);
    origin.chmod("f", 0700);
    Attributes listed = origin.stat(OriginPath.of("f"));
    origin.chmod("f", 0750);
    assertThat(tree.refresh(directory)).isTrue();
    assertThat(tree.listed(tree.root(), NAME, listed)).isEqualTo(directory);
    assertThat(directory.attributes().mode() & 0777).isEqualTo(0750);
  }

  /** By them the kernel lets users through. */
  @Test
  void attributes_ofADirectoryOnTheWayThatAreOlder_areNotTaken() throws Exception {
    origin.file("f/a", new byte[1]);
    Node directory = lookup(NAME);
    tree.lookup(directory, name("a"));
    origin.chmod("f", 0700);
    Attributes old = origin.stat(OriginPath.of("f"));
    origin.chmod("f", 0750);
    assertThat(tree.refresh(directory)).isTrue();
    assertFails(() -> tree.requireWay(directory, List.of(old)), FsError.STALE);
    assertThat(directory.attributes().mode() & 0777).isEqualTo(0750);
  }

  @Test
  void answer_ofAFileThatHasGoneSince_isNotTaken() throws Exception {
    origin.file("f", new byte[1]);
    Future<Node> late = lookupWithLateAnswer(1);
    lookup(NAME);
    origin.remove("f");
    assertFails(() -> lookup(NAME), FsError.NOT_FOUND);
    arrives.countDown();
    assertThatThrownBy(() -> outcome(late))
        .cause()
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.code()).isEqualTo(FsError.NOT_FOUND));
    assertThat(tree.known(tree.root(), NAME)).isNull();
    assertThat(tree.size()).isEqualTo(1);
  }

  @Test
  void answer_thatTheNameWasGone_doesNotRemoveWhatHasComeSince() throws Exception {
    origin.file("f", new byte[1]);
    Node old = lookup(NAME);
    origin.remove("f");
    Future<Node> late = lookupWithLateAnswer(1);
    origin.file("f", new byte[2]);
    Node now = lookup(NAME);
    arrives.countDown();
    assertThat(outcome(late)).isEqualTo(now);
    assertThat(now.isStale()).isFalse();
    assertThat(replaced).containsExactly(old);
  }

  /** The sizes of a name's files grow at the origin, and so they do in the tree. */
  @Test
  void answers_thatComeLateAtRandom_neverReplaceYoungerOnes() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<String> names = List.of("f", nameOfTheSameLock(), "h");
    origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void afterStat(OriginPath path) {
            LockSupport.parkNanos(System.nanoTime() % 100_000);
          }
        });
    AtomicBoolean ended = new AtomicBoolean();
    AtomicLong lookups = new AtomicLong();
    List<Future<?>> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      readers.add(threads.submit(() -> lookUpUntil(ended, names, lookups)));
    }
    for (int i = 1; i <= 400; i++) {
      String each = names.get(random.nextInt(names.size()));
      if (random.nextInt(4) == 0) {
        origin.remove(each);
      } else {
        origin.file(each, new byte[i]);
      }
      long before = lookups.get();
      Await.until(
          "a lookup", () -> lookups.get() > before || readers.stream().anyMatch(Future::isDone));
    }
    ended.set(true);
    for (Future<?> reader : readers) {
      outcome(reader);
    }
    Map<String, Long> last = new HashMap<>();
    for (Node old : replaced) {
      String path = old.path().toString();
      long size = old.attributes().size();
      assertThat(size).as("%s, seed %d", path, seed).isGreaterThan(last.getOrDefault(path, 0L));
      last.put(path, size);
    }
    assertThat(replaced).as("seed %d", seed).hasSizeGreaterThan(30);
  }

  private void lookUpUntil(AtomicBoolean ended, List<String> names, AtomicLong lookups) {
    while (!ended.get()) {
      for (String each : names) {
        try {
          lookup(name(each));
        } catch (FsException e) {
          assertThat(e.code()).isEqualTo(FsError.NOT_FOUND);
        }
        lookups.incrementAndGet();
      }
    }
  }
}
