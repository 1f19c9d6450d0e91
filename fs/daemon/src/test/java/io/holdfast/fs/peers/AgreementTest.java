package io.holdfast.fs.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.DelegatingOrigin;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.Told;
import io.holdfast.peer.transfer.TransferResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The peers that are found to have the same dataset, when, and how often a node looks. */
final class AgreementTest {
  private static final NodeAddress SELF = new NodeAddress("a", 7070);
  private static final NodeAddress PEER = new NodeAddress("b", 7070);

  private final FakeClock clock = new FakeClock();
  private final Map<NodeAddress, Told> answers = new HashMap<>();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger changes = new AtomicInteger();
  private String broken = "";
  private Sandbox sandbox;
  private Origin origin;
  private Agreement agreement;

  @BeforeEach
  void create() throws IOException {
    sandbox = Sandbox.create();
    write("here", "one");
    origin =
        new DelegatingOrigin(open("here")) {
          @Override
          public Attributes stat(OriginPath path) throws FsException {
            throwIfBroken("origin");
            return super.stat(path);
          }

          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            throwIfBroken("origin");
            super.list(path, sink);
          }

          @Override
          public OriginFile open(OriginPath path, Part part) throws FsException {
            if (broken.equals("bytes")) {
              throw new FsException(FsError.IO, path + ": for the test");
            }
            return super.open(path, part);
          }
        };
    agreement =
        new Agreement(
            "photos",
            SELF,
            new Agreement.Parts(
                new OwnSketch(new SketchMaker(origin, clock), clock),
                Runnable::run,
                clock,
                Agreement.LONGEST_WAIT),
            this::ask,
            changes::incrementAndGet);
  }

  @AfterEach
  void close() throws IOException {
    origin.close();
    sandbox.close();
  }

  private void throwIfBroken(String part) {
    if (broken.equals(part)) {
      throw new StackOverflowError("for the test");
    }
  }

  private CompletableFuture<Told> ask(NodeAddress peer) {
    asked.incrementAndGet();
    throwIfBroken("question");
    if (broken.equals("answer")) {
      return CompletableFuture.failedFuture(new OutOfMemoryError("for the test"));
    }
    return CompletableFuture.completedFuture(
        answers.getOrDefault(peer, new Told(TransferResult.SUSPECT, "", "")));
  }

  private void write(String name, String text) throws IOException {
    write(name, "dir/", text);
  }

  private void write(String name, String folder, String text) throws IOException {
    for (int i = 0; i < 10; i++) {
      Path file = sandbox.path(name).resolve(folder + i);
      Files.createDirectories(file.getParent());
      Files.writeString(file, text + i);
      Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L));
    }
  }

  private Origin open(String name) throws IOException {
    return PosixOrigin.open(sandbox.path(name), () -> Instant.now().plus(Duration.ofHours(1)));
  }

  private String sketch(String name, String text) throws IOException {
    write(name, text);
    try (Origin other = open(name)) {
      return new SketchMaker(other, clock).make().toString();
    }
  }

  private void tells(String sketch) {
    answers.put(PEER, new Told(TransferResult.FETCHED, "name", sketch));
  }

  private Verdict verdict() {
    return agreement.with(PEER).orTimeout(60, TimeUnit.SECONDS).join();
  }

  @Test
  void with_peerOfTheSameDataset_isKnownAfterOneQuestion() throws IOException {
    tells(sketch("there", "one"));
    agreement.peers(Set.of(PEER));
    assertThat(verdict().isSame()).isTrue();
    assertThat(verdict().theirs()).hasSize(43);
    clock.advance(Duration.ofHours(1));
    agreement.tick();
    assertThat(asked).hasValue(1);
    assertThat(changes).hasValue(0);
  }

  @Test
  void with_peerOfAnotherDataset_isLeftOutUntilItHasTheSame() throws IOException {
    tells(sketch("there", "two"));
    agreement.peers(Set.of(PEER));
    assertThat(verdict().kind()).isEqualTo(Verdict.Kind.OTHER);
    assertThat(verdict().detail()).contains("/there", "/here", "other bytes", "dir/");
    assertThat(agreement.others()).containsExactly(PEER);
    assertThat(changes).hasValue(1);
    assertThat(agreement.tell(PEER).join()).endsWith("\nother\n");

    tells(sketch("there", "one"));
    clock.advance(Duration.ofSeconds(29));
    agreement.tick();
    assertThat(asked).hasValue(1);
    clock.advance(Duration.ofSeconds(2));
    agreement.tick();
    assertThat(asked).hasValue(2);
    assertThat(verdict().isSame()).isTrue();
    assertThat(agreement.others()).isEmpty();
    assertThat(changes).hasValue(2);
    assertThat(agreement.tell(PEER).join()).doesNotEndWith("other\n");
  }

  /** One dataset may be a part of the other: then only one side notices. */
  @Test
  void with_peerThatFoundAnotherDatasetHere_isLeftOutToo() throws IOException {
    String sketch = sketch("there", "one");
    tells(sketch + "other\n");
    agreement.peers(Set.of(PEER));
    assertThat(verdict().kind()).isEqualTo(Verdict.Kind.OTHER);
    // it only heard of it, and so does not tell the other in turn: both would do so for ever
    assertThat(agreement.tell(PEER).join()).doesNotEndWith("other\n");
    tells(sketch);
    clock.advance(Duration.ofSeconds(31));
    agreement.tick();
    assertThat(verdict().isSame()).isTrue();
    agreement.refusedBy(PEER);
    assertThat(verdict().kind()).isEqualTo(Verdict.Kind.OTHER);
  }

  @Test
  void with_peerThatTellsNothing_isNotKnownInABoundedTime() {
    agreement.peers(Set.of(PEER));
    long start = System.nanoTime();
    assertThat(verdict().kind()).isEqualTo(Verdict.Kind.UNKNOWN);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
  }

  @Test
  void with_peerThatTellsRubbish_isNotKnown() {
    tells("GET / HTTP/1.1\r\n\r\n");
    agreement.peers(Set.of(PEER));
    assertThat(verdict().kind()).isEqualTo(Verdict.Kind.UNKNOWN);
    assertThat(agreement.others()).isEmpty();
  }

  /** The comparison went on for ever then, and none was begun again. */
  @ParameterizedTest
  @ValueSource(strings = {"question", "answer", "origin"})
  void with_errorInTheComparison_isNotKnownAndComparedAgain(String part) throws IOException {
    tells(sketch("there", "one"));
    broken = part;
    agreement.peers(Set.of(PEER));
    assertThat(verdict()).isEqualTo(Verdict.unknown("internal error"));
    broken = "";
    clock.advance(Duration.ofSeconds(31));
    agreement.tick();
    assertThat(asked).hasValue(2);
    assertThat(verdict().isSame()).isTrue();
  }

  /** A known verdict stays after a failure: peers serve while the origin hangs. */
  @Test
  void again_peerDoesNotAnswerAnyMore_verdictStays() throws IOException {
    tells(sketch("there", "one"));
    agreement.peers(Set.of(PEER));
    assertThat(verdict().isSame()).isTrue();
    answers.clear();
    clock.advance(Duration.ofSeconds(2));
    agreement.again(PEER).join();
    assertThat(asked).hasValue(2);
    assertThat(verdict().isSame()).isTrue();
  }

  /**
   * The nodes took each other for another dataset, and asked the origin that did not give bytes for
   * what the other had in memory.
   */
  @Test
  void again_originTellsAttributesAndGivesNoBytes_verdictAndOwnSketchStay() throws IOException {
    String first = sketch("there", "one");
    tells(first);
    agreement.peers(Set.of(PEER));
    assertThat(verdict().isSame()).isTrue();
    String mark = agreement.mark();
    String own = agreement.tell(PEER).join();
    broken = "bytes";
    clock.advance(Duration.ofMinutes(2));
    assertThat(agreement.tell(PEER).join()).isEqualTo(own);
    assertThat(agreement.mark()).isEqualTo(mark);

    write("here", "new/", "two");
    write("there", "new/", "two");
    try (Origin other = open("there")) {
      tells(new SketchMaker(other, clock).make().toString());
    }
    assertThat(answers.get(PEER).text()).isNotEqualTo(first);
    agreement.again(PEER).join();
    assertThat(asked).hasValue(2);
    assertThat(verdict().isSame()).isTrue();
    assertThat(agreement.others()).isEmpty();

    broken = "";
    clock.advance(Duration.ofMinutes(2));
    agreement.again(PEER).join();
    assertThat(verdict().theirs()).isEqualTo(DatasetSketch.parse(answers.get(PEER).text()).mark());
  }

  @Test
  void again_manyTimes_asksOnceASecond() throws IOException {
    tells(sketch("there", "one"));
    agreement.peers(Set.of(PEER));
    for (int i = 0; i < 1000; i++) {
      agreement.again(PEER).join();
    }
    assertThat(asked).hasValue(1);
  }

  /** A member of the cluster may call itself what it likes. */
  @Test
  void with_peersThatAreInNoView_areBounded() {
    tells("");
    for (int i = 0; i < 5000; i++) {
      CompletableFuture<Verdict> unused = agreement.with(new NodeAddress("x" + i, 7070));
    }
    long known =
        IntStream.range(0, 5000)
            .filter(i -> agreement.known(new NodeAddress("x" + i, 7070)).isPresent())
            .count();
    assertThat(known).isEqualTo(256);
    agreement.peers(Set.of(PEER));
    assertThat(agreement.known(new NodeAddress("x0", 7070))).isEmpty();
  }
}
