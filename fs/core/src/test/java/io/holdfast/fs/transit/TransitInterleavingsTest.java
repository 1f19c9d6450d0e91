package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.LincheckJar;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.linux.Memory;
import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Readers of one item, its file changing, deadlines and pins, all at once: each read is answered
 * once, with its bytes or a reason, and no memory is left. Some interleavings, by Lincheck; more
 * with {@code -Dholdfast.interleavings=N}.
 */
@Param(name = "part", gen = IntGen.class, conf = "0:1")
@ExtendWith(LincheckJar.class)
public class TransitInterleavingsTest {
  private static final int PART = 1000;

  private final TransitFixture t =
      TransitFixture.direct(TransitFixture.MIB, 2L * TransitFixture.MIB);
  private final TransitFixture.File file = t.file("f", 2 * PART, 1);
  private final Queue<Answer> asked = new ConcurrentLinkedQueue<>();

  /** A reply that keeps its answer, with nothing in it but what the checker can look through. */
  private static final class Answer implements ReadReply {
    private final int offset;
    private final AtomicInteger answers = new AtomicInteger();
    private volatile byte @Nullable [] bytes;
    private volatile @Nullable FsError failure;

    Answer(int offset) {
      this.offset = offset;
    }

    @Override
    public void data(CheckedBytes data) {
      bytes = Memory.bytes(data.address(), data.length());
      answers.incrementAndGet();
    }

    @Override
    public void failed(FsException cause) {
      failure = cause.code();
      answers.incrementAndGet();
    }
  }

  @Operation
  public void read(@Param(name = "part") int part) {
    Answer answer = new Answer(part * PART);
    asked.add(answer);
    t.transit.read(file.content(), answer.offset, PART, TransitFixture.NEAR, answer);
  }

  @Operation
  public void change() {
    t.transit.abandon(file.content().node(), "f");
  }

  @Operation
  public void admit() {
    t.listener.admits = item -> true;
  }

  @Operation
  public void pin() {
    t.listener.pinAll();
  }

  @Operation
  public void expire() {
    t.clock.advance(Duration.ofMinutes(1));
    t.transit.expire();
  }

  @Validate
  public void answeredAndGivenBack() {
    for (Answer each : asked) {
      check(each.answers.get() == 1, each.answers.get() + " answers");
      FsError failure = each.failure;
      check(
          failure == null
              ? Arrays.equals(each.bytes, file.range(each.offset, PART))
              : failure == FsError.STALE || failure == FsError.TIMED_OUT,
          "answered with " + failure);
    }
    t.listener.pinAll();
    t.clock.advance(Duration.ofMinutes(10));
    t.transit.expire();
    check(t.transit.used() == 0, t.transit.used() + " bytes left");
    check(t.origin.open() == 0, "open files");
    check(t.transit.stats().inFlight.sum() == 0, "in flight");
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }

  @Test
  void operations_atOnce_answerEachReadOnceAndLeaveNothing() {
    new ModelCheckingOptions()
        .iterations(2 * Integer.getInteger("holdfast.interleavings", 1))
        .invocationsPerIteration(30)
        .threads(2)
        .actorsPerThread(3)
        .loopBound(10_000)
        .addGuarantee(
            ManagedStrategyGuaranteeKt.forClasses(
                    name ->
                        name.startsWith("io.holdfast.fs.linux.")
                            || name.startsWith("jnr.")
                            || name.startsWith("org.slf4j.")
                            || name.startsWith("ch.qos.logback."))
                .allMethods()
                .ignore())
        .check(TransitInterleavingsTest.class);
  }
}
