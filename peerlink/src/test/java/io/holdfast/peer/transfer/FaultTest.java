package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.await;
import static io.holdfast.peer.transfer.Nodes.bytes;
import static io.holdfast.peer.transfer.Nodes.fetch;
import static io.holdfast.peer.transfer.Nodes.part;
import static io.holdfast.peer.transfer.Nodes.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.Nodes.TestNode;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An error between two nodes ends in a fault, and never in wrong bytes. */
final class FaultTest {
  private static final int LENGTH = 300_000;

  /** Castagnoli's, without its first bit, the lowest power last. */
  private static final long CRC32C_POLYNOMIAL = 0x82F63B78L;

  private final Nodes nodes = new Nodes();
  private Wiretap tap;
  private TestNode owner;
  private TestNode asker;
  private byte[] sent;

  @BeforeEach
  void start() {
    tap = nodes.closing(new Wiretap("127.0.0.2"));
    owner = tap.node(nodes);
    asker = nodes.start("127.0.0.3");
    sent = owner.put("a", LENGTH);
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private PeerFigures figures() {
    return asker.transfer().figures().get(0);
  }

  private void assertFault(TransferResult outcome, String detail) {
    assertThat(outcome.kind()).isEqualTo(TransferResult.Kind.FAULT);
    assertThat(outcome.detail()).contains(detail);
    assertThat(figures().suspect()).isTrue();
    assertThat(figures().errors()).isEqualTo(1);
    assertThat(asker.transfer().errors()).isEqualTo(1);
  }

  /** A sum that falls when a node leaves would be taken for a restart. */
  @Test
  void errors_ofPeerThatLeft_areStillCounted() {
    TestNode hasty = nodes.start(nodes.hasty("127.0.0.5"));
    owner.transfer().close();
    assertThat(fetch(hasty, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH)).kind())
        .isEqualTo(TransferResult.Kind.FAULT);
    long errors = hasty.transfer().errors();
    assertThat(errors).isPositive();
    hasty.transfer().peers(Set.of());
    assertThat(hasty.transfer().figures()).isEmpty();
    assertThat(hasty.transfer().errors()).isEqualTo(errors);
  }

  /** Flips one bit behind the first place where an answer has this text. */
  private static Wiretap.Change flip(String text, AtomicBoolean done) {
    return (bytes, length, at) -> {
      String answer =
          new String(bytes, 0, length, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
      int item = answer.indexOf("http/1.1 20");
      int found = item < 0 ? -1 : answer.indexOf(text, item);
      if (found >= 0 && !done.getAndSet(true)) {
        bytes[found + text.length()] ^= 1;
      }
      return length;
    };
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http/1.1 20",
        "etag: \"",
        "content-length: ",
        "content-digest: sha-256=:",
        "holdfast-resident: ",
        "holdfast-mac: ",
        "content-range: bytes "
      })
  void fetch_oneBitOfAHeaderFlipped_fault(String header) {
    AtomicBoolean flipped = new AtomicBoolean();
    tap.answers = flip(header, flipped);

    TransferResult outcome =
        fetch(asker, owner.address(), part("a", LENGTH, 1000, LENGTH - 1000), nodes.memory(LENGTH));

    assertThat(flipped).isTrue();
    assertFault(outcome, "proof");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 77_777, LENGTH - 1})
  void fetch_oneBitOfTheBodyFlipped_fault(int place) {
    long[] body = {Long.MAX_VALUE};
    tap.answers =
        (bytes, length, at) -> {
          String text = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
          int head = text.indexOf("HTTP/1.1 200");
          if (head >= 0) {
            body[0] = at + text.indexOf("\r\n\r\n", head) + 4;
          }
          long flipped = body[0] + place - at;
          if (flipped >= 0 && flipped < length) {
            bytes[(int) flipped] ^= 4;
          }
          return length;
        };

    TransferResult outcome =
        fetch(asker, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH));

    assertFault(outcome, "digest");
  }

  /**
   * An attacker who changes 33 bits by CRC32C's polynomial, at any place, keeps the checksum. So
   * once a body passed that nobody had sent.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 77_777, LENGTH - 8})
  void fetch_bodyChangedSoThatItsCrc32cStays_faultAndCounted(int place) {
    byte[] forged = sent.clone();
    changeBehindCrc32c(forged, place);
    assertThat(forged).isNotEqualTo(sent);
    assertThat(crc32c(forged)).isEqualTo(crc32c(sent));
    tap.answers = replaceBody(forged);

    TransferResult outcome =
        fetch(asker, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH));

    assertFault(outcome, "digest");
  }

  @Test
  void sketch_changedOnTheWay_faultAndNothingOfItIsTaken() {
    owner.shelf().sketch.complete("the truth");
    tap.answers = replaceBody("a lie now".getBytes(StandardCharsets.US_ASCII));

    Told told = asker.transfer().sketch(owner.address()).orTimeout(60, TimeUnit.SECONDS).join();

    assertFault(told.outcome(), "digest");
    assertThat(told.text()).isEmpty();
  }

  @Test
  void fetch_partChangedSoThatItsCrc32cStays_faultAndCounted() {
    byte[] forged = Arrays.copyOfRange(sent, 1000, 9000);
    changeBehindCrc32c(forged, 4000);
    tap.answers = replaceBody(forged);

    TransferResult outcome =
        fetch(asker, owner.address(), part("a", LENGTH, 1000, 8000), nodes.memory(8000));

    assertFault(outcome, "digest");
  }

  private static void changeBehindCrc32c(byte[] bytes, int place) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putLong(place, buffer.getLong(place) ^ (CRC32C_POLYNOMIAL << 1 | 1));
  }

  private static long crc32c(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return crc.getValue();
  }

  /** Puts other bytes in the place of the first body behind a head. */
  private static Wiretap.Change replaceBody(byte[] other) {
    long[] body = {Long.MAX_VALUE};
    return (bytes, length, at) -> {
      String text = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
      int head = text.indexOf("HTTP/1.1 20");
      if (head >= 0 && body[0] == Long.MAX_VALUE) {
        body[0] = at + text.indexOf("\r\n\r\n", head) + 4;
      }
      for (int i = 0; i < length; i++) {
        long offset = at + i - body[0];
        if (offset >= 0 && offset < other.length) {
          bytes[i] = other[(int) offset];
        }
      }
      return length;
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1})
  void fetch_connectionEndsInTheBody_faultAndMemoryUntouchedAfterwards(int end) {
    tap.answers = (bytes, length, at) -> at + length > 100_000 ? end : length;
    ByteBuf memory = nodes.memory(LENGTH);

    TransferResult outcome = fetch(asker, owner.address(), whole("a", LENGTH), memory);

    byte[] then = bytes(memory, LENGTH);
    assertFault(outcome, "");
    owner.transfer().close();
    assertThat(bytes(memory, LENGTH)).isEqualTo(then);
  }

  @Test
  void fetch_peerStallsInTheBody_faultAtTheDeadlineAndNothingIsWrittenLater() {
    CompletableFuture<Void> gate = nodes.gate();
    TestNode hasty = nodes.start(nodes.hasty("127.0.0.5"));
    tap.answers =
        (bytes, length, at) -> {
          if (at + length > 100_000) {
            gate.orTimeout(60, TimeUnit.SECONDS).join();
          }
          return length;
        };
    ByteBuf memory = nodes.memory(LENGTH);

    TransferResult outcome = fetch(hasty, owner.address(), whole("a", LENGTH), memory);

    byte[] then = bytes(memory, LENGTH);
    assertThat(outcome).isEqualTo(TransferResult.fault("not enough within 1000 ms"));
    gate.complete(null);
    owner.transfer().close();
    hasty.transfer().close();
    assertThat(bytes(memory, LENGTH)).isEqualTo(then);
  }

  /** Each piece is in time for a client that waits for a byte. */
  @Test
  void fetch_bodyComesInPiecesWithPauses_faultAtTheDeadlineOfItsHead() {
    TestNode hasty = nodes.start(nodes.hasty("127.0.0.5"));
    AtomicBoolean inBody = new AtomicBoolean();
    tap.answers =
        (bytes, length, at) -> {
          if (at > 1000) {
            inBody.set(true);
            new CompletableFuture<>().completeOnTimeout(null, 700, TimeUnit.MILLISECONDS).join();
          }
          return length;
        };

    TransferResult outcome =
        fetch(hasty, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH));

    assertThat(inBody).isTrue();
    assertThat(outcome).isEqualTo(TransferResult.fault("not enough within 1000 ms"));
  }

  /** The interim answers arrive in time, again and again. */
  @Test
  void fetch_peerSendsOnlyInterimAnswers_faultAtTheDeadlineOfTheAnswer() {
    TestNode hasty = nodes.start(nodes.wantsAnswers("127.0.0.5", 3000));
    AtomicReference<ItemProvider.Answer> never = new AtomicReference<>();
    owner.shelf().instead = never::set;
    AtomicBoolean interim = new AtomicBoolean();
    tap.answers =
        (bytes, length, at) -> {
          String text = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
          interim.compareAndSet(false, text.contains("HTTP/1.1 102"));
          return length;
        };

    TransferResult outcome =
        fetch(hasty, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH));

    assertThat(interim).isTrue();
    assertThat(outcome).isEqualTo(TransferResult.fault("no answer within 3000 ms"));
  }

  /** A large item of a slow peer arrives if its head was in time. */
  @Test
  void fetch_bodyGoesOnAfterTheDeadlineOfTheAnswer_sameBytes() {
    TestNode hasty = nodes.start(nodes.wantsAnswers("127.0.0.5", 3000));
    AtomicBoolean delayed = new AtomicBoolean();
    tap.answers =
        (bytes, length, at) -> {
          if (at > 1000 && !delayed.getAndSet(true)) {
            new CompletableFuture<>().completeOnTimeout(null, 4, TimeUnit.SECONDS).join();
          }
          return length;
        };
    ByteBuf memory = nodes.memory(LENGTH);

    TransferResult outcome = fetch(hasty, owner.address(), whole("a", LENGTH), memory);

    assertThat(delayed).isTrue();
    assertThat(outcome).isEqualTo(TransferResult.FETCHED);
    assertThat(bytes(memory, LENGTH)).isEqualTo(sent);
  }

  /** Each piece is in time, and all of them together took the time of a read. */
  @Test
  void fetch_bodyGoesOnForTooLong_faultAtTheDeadlineOfAllOfIt() {
    Duration total = Duration.ofSeconds(3);
    TestNode hasty = nodes.start(nodes.wantsAll("127.0.0.5", total.dividedBy(2), total));
    AtomicBoolean inBody = new AtomicBoolean();
    tap.answers =
        (bytes, length, at) -> {
          if (at > 1000) {
            inBody.set(true);
            new CompletableFuture<>().completeOnTimeout(null, 2, TimeUnit.SECONDS).join();
          }
          return length;
        };

    TransferResult outcome =
        fetch(hasty, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH));

    assertThat(inBody).isTrue();
    assertThat(outcome).isEqualTo(TransferResult.fault("no whole answer within 3000 ms"));
  }

  @Test
  void fetch_peerNeverAnswersTheGreeting_fault() {
    CompletableFuture<Void> gate = nodes.gate();
    TestNode hasty = nodes.start(nodes.hasty("127.0.0.5"));
    tap.answers =
        (bytes, length, at) -> {
          gate.orTimeout(60, TimeUnit.SECONDS).join();
          return 0;
        };

    TransferResult outcome =
        fetch(hasty, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH));

    assertThat(outcome).isEqualTo(TransferResult.fault("no connection in time"));
    gate.complete(null);
  }

  @Test
  void fetch_keptConnectionClosedWhileIdle_asksOnceMore() {
    ByteBuf memory = nodes.memory(LENGTH);
    assertThat(fetch(asker, owner.address(), whole("a", LENGTH), memory).isFetched()).isTrue();
    // ends the kept connection as soon as the next request goes over it, before any answer
    int[] asked = {0};
    tap.questions = (bytes, length, at) -> asked[0]++ == 0 ? -1 : length;

    assertThat(fetch(asker, owner.address(), whole("a", LENGTH), memory).isFetched()).isTrue();

    assertThat(bytes(memory, LENGTH)).isEqualTo(sent);
    assertThat(tap.connections()).isEqualTo(2);
    assertThat(figures().errors()).isZero();
  }

  @Test
  void fetch_newConnectionClosedWithoutAnswer_fault() {
    tap.questions = (bytes, length, at) -> at > 0 ? 0 : length;

    assertFault(fetch(asker, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH)), "");
    assertThat(tap.connections()).isEqualTo(1);
  }

  @Test
  void fetch_nobodyListens_faultThenLeftAloneThenTriedAgain() {
    NodeAddress nobody = Nodes.free("127.0.0.9");
    ByteBuf memory = nodes.memory(LENGTH);
    assertThat(fetch(asker, nobody, whole("a", LENGTH), memory).kind())
        .isEqualTo(TransferResult.Kind.FAULT);
    assertThat(fetch(asker, nobody, whole("a", LENGTH), memory)).isEqualTo(TransferResult.SUSPECT);
    assertThat(figures().suspect()).isTrue();

    TestNode late = nodes.start(Nodes.config(nobody, Nodes.SECRET));
    late.put("a", LENGTH);

    Eventually.holds(
        "it is tried again", () -> fetch(asker, nobody, whole("a", LENGTH), memory).isFetched());
    assertThat(figures().suspect()).isFalse();
    assertThat(bytes(memory, LENGTH)).isEqualTo(sent);
  }

  @Test
  void fetch_nameUnknown_fault() {
    NodeAddress nowhere = new NodeAddress("nowhere.invalid", 7070);
    assertThat(fetch(asker, nowhere, whole("a", LENGTH), nodes.memory(LENGTH)).kind())
        .isEqualTo(TransferResult.Kind.FAULT);
  }

  /**
   * The connections are cut while eight requests wait for a turn. (When the fault was a deadline,
   * those eight had the same one, and who was first was chance.)
   */
  @Test
  void fetch_fault_requestsThatWaitedAreNotAsked() {
    CompletableFuture<Void> gate = nodes.gate();
    TestNode patient = nodes.start("127.0.0.5");
    tap.answers =
        (bytes, length, at) -> {
          gate.orTimeout(60, TimeUnit.SECONDS).join();
          return length;
        };
    List<CompletableFuture<TransferResult>> outcomes = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      outcomes.add(
          patient.ask(
              owner.address(),
              Sketches.NONE,
              whole("a", LENGTH),
              nodes.memory(LENGTH).memoryAddress()));
    }
    Eventually.holds(
        "32 are asked, and 8 wait",
        () -> tap.connections() == 32 && patient.transfer().figures().get(0).load().queued() == 8);
    tap.cut();
    assertThat(outcomes.stream().map(each -> await(each).kind()))
        .hasSize(40)
        .filteredOn(TransferResult.Kind.SUSPECT::equals)
        .hasSize(8);
    gate.complete(null);
  }
}
