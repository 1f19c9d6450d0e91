package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Random operations: whatever happens, bytes are those of the version, and memory is bounded. */
final class TransitPropertyTest {
  private static final int FILES = 6;

  @Property(tries = 60)
  void operations_inAnyOrder_deliverTheContentWithinTheBound(
      @ForAll long seed, @ForAll @IntRange(min = 2, max = 6) int itemsOfMemory) {
    Random random = new Random(seed);
    long capacity = (long) itemsOfMemory * MIB;
    AtomicLong peak = new AtomicLong();
    try (TransitFixture t = TransitFixture.impatient(MIB, capacity)) {
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) {
              peak.accumulateAndGet(t.transit.used(), Math::max);
            }
          });
      // at most one item is on its way to being pinned, so that there is always room for one more
      t.listener.admits = item -> t.listener.admitted.isEmpty() && item.key().extent() % 3 == 0;
      Map<String, File> files = new HashMap<>();
      List<File> outdated = new ArrayList<>();
      for (int i = 0; i < FILES; i++) {
        files.put("f" + i, t.file("f" + i, size(random), seed + i));
      }
      for (int step = 0; step < 150; step++) {
        String name = "f" + random.nextInt(FILES);
        File file = files.get(name);
        t.listener.givesWay = random.nextBoolean();
        switch (random.nextInt(12)) {
          case 0 -> {
            outdated.add(file);
            t.transit.abandon(file.content().node(), name);
            files.put(name, t.file(name, size(random), random.nextLong()));
          }
          case 1 -> t.listener.pinAll();
          case 2 -> {
            t.clock.advance(Duration.ofMillis(random.nextInt(4000)));
            t.transit.expire();
          }
          case 3 -> {
            if (!outdated.isEmpty()) {
              File old = outdated.get(random.nextInt(outdated.size()));
              assertThat(t.read(old, 0, 1).code()).isIn(FsError.STALE, FsError.NO_MEMORY);
            }
          }
          default -> readSomewhere(t, file, random);
        }
        assertThat(t.transit.used()).isBetween(0L, capacity);
      }
      assertThat(peak.get()).isLessThanOrEqualTo(capacity);
    }
  }

  private static int size(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> 1 + random.nextInt(10_000);
      case 1 -> 1 + random.nextInt(FileStreams.PART);
      case 2 -> MIB * (1 + random.nextInt(2));
      default -> 1 + random.nextInt(3 * MIB);
    };
  }

  private static void readSomewhere(TransitFixture t, File file, Random random) {
    int size = file.bytes().length;
    int offset = random.nextInt(4) == 0 ? 0 : random.nextInt(size);
    int length = 1 + random.nextInt(Math.min(size - offset, 300_000));
    Reader reader =
        List.of(
                TransitFixture.NEAR,
                TransitFixture.SECOND,
                TransitFixture.INTERNAL,
                TransitFixture.ELSEWHERE)
            .get(random.nextInt(4));
    RecordingReply reply = t.read(file, offset, length, reader);
    assertThat(reply.isAnswered()).isTrue();
    // a bound that all is in use of is no wrong byte; TransitKeepingTest tells what must be given
    // up then
    if (reply.code() != FsError.NO_MEMORY) {
      assertThat(reply.bytes()).isEqualTo(file.range(offset, length));
    }
  }

  @Test
  void manyThreads_readingAnything_getTheContent() throws Exception {
    long seed = Seeds.next("manyThreads_readingAnything");
    int readers = 8;
    ExecutorService threads = Executors.newFixedThreadPool(readers);
    try (TransitFixture t = TransitFixture.threaded(MIB, 12L * MIB)) {
      Random failures = new Random(seed);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) throws FsException {
              boolean fails;
              synchronized (failures) {
                fails = failures.nextInt(200) == 0;
              }
              if (fails) {
                throw new FsException(FsError.IO, path + ": passes");
              }
            }
          });
      List<File> files = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        files.add(t.file("f" + i, 1 + (i * 313_131) % (3 * MIB), seed + i));
      }
      CountDownLatch start = new CountDownLatch(1);
      List<Future<Integer>> done = new ArrayList<>();
      for (int i = 0; i < readers; i++) {
        Random random = new Random(seed + 100 + i);
        Reader reader = new Reader(200 + i, Reader.Kind.APPLICATION, i % 2 == 0);
        done.add(
            threads.submit(
                () -> {
                  start.await();
                  return readMany(t, files, reader, random);
                }));
      }
      start.countDown();
      for (Future<Integer> each : done) {
        assertThat(each.get(60, TimeUnit.SECONDS)).isEqualTo(400);
      }
      assertThat(t.transit.used()).isLessThanOrEqualTo(t.transit.capacity());
    } finally {
      threads.shutdown();
    }
  }

  private static int readMany(TransitFixture t, List<File> files, Reader reader, Random random) {
    int good = 0;
    for (int i = 0; i < 400; i++) {
      File file = files.get(random.nextInt(files.size()));
      int size = file.bytes().length;
      int offset = random.nextInt(size);
      int length = 1 + random.nextInt(Math.min(size - offset, 128 << 10));
      RecordingReply reply = t.read(file, offset, length, reader);
      assertThat(reply.bytes()).isEqualTo(file.range(offset, length));
      good++;
    }
    return good;
  }
}
