package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The cost at the origin of reads of a large file that would not be admitted, for every way in
 * which programs read.
 */
final class AccessPatternsTest {
  private static final int ITEM = 2 * MIB;
  private static final int READ = 128 << 10;
  private static final int PAGE = 4096;

  /** Prefetches that have not had their turn. */
  private final Queue<Runnable> ahead = new ArrayDeque<>();

  private final AtomicLong peak = new AtomicLong();

  private TransitFixture transit(int itemSize, long capacity) {
    TransitFixture t = TransitFixture.direct(itemSize, capacity, ahead::add);
    t.origin.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void read(OriginPath path, long offset, int length) {
            peak.accumulateAndGet(t.transit.used(), Math::max);
          }
        });
    return t;
  }

  private void runAhead() {
    for (Runnable task = ahead.poll(); task != null; task = ahead.poll()) {
      task.run();
    }
  }

  private static Reader thread(int number) {
    return new Reader(1000 + number, Reader.Kind.APPLICATION, false);
  }

  /** Reads; a prefetch has its turn when the reader must wait for it. */
  private void read(TransitFixture t, File file, long offset, int length, int thread) {
    RecordingReply reply = t.read(file, offset, length, thread(thread));
    while (!reply.isAnswered() && !ahead.isEmpty()) {
      ahead.remove().run();
    }
    assertThat(reply.bytes()).isEqualTo(file.range(offset, length));
  }

  /** Everything once, and by the time that the reader comes it is there. */
  @ParameterizedTest
  @ValueSource(ints = {PAGE, READ, MIB})
  void sequential_reader_getsEachByteOnceAndAhead(int length) {
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 40 * MIB + 12_345, 1);
      long size = file.bytes().length;
      long waited = 0;
      for (long offset = 0; offset < size; offset += length) {
        long before = t.origin.bytesRead();
        read(t, file, offset, (int) Math.min(length, size - offset), 0);
        waited += t.origin.bytesRead() > before ? 1 : 0;
        runAhead();
      }
      assertThat(t.origin.bytesRead()).isEqualTo(size);
      assertThat(waited).as("reads that were not expected").isEqualTo(1);
      assertThat(t.origin.opens()).isLessThan(32);
      assertThat(peak.get()).isLessThanOrEqualTo(t.transit.capacity());
    }
  }

  /** The origin takes long: the number of bytes in flight decides how fast the reader is. */
  @Test
  void sequential_readerWhoMustWait_hasHalfOfTransitOnItsWay() {
    try (TransitFixture t = transit(MIB, 32L * MIB)) {
      File file = t.file("f", 64 * MIB, 1);
      int most = 0;
      for (long offset = 0; offset < file.bytes().length; offset += READ) {
        read(t, file, offset, READ, 0);
        most = Math.max(most, ahead.size());
      }
      assertThat(most).isEqualTo(16);
      runAhead();
      assertThat(t.origin.bytesRead()).isEqualTo(file.bytes().length);
    }
  }

  @Test
  void sequential_readersOfOneFile_getEachByteOnce() {
    int readers = 8;
    try (TransitFixture t = transit(ITEM, 64L * MIB)) {
      File file = t.file("f", 64 * MIB, 1);
      int share = file.bytes().length / readers;
      for (int offset = 0; offset < share; offset += READ) {
        for (int reader = 0; reader < readers; reader++) {
          read(t, file, (long) reader * share + offset, READ, reader);
        }
        runAhead();
      }
      assertThat(t.origin.bytesRead()).isEqualTo(file.bytes().length);
      assertThat(peak.get()).isLessThanOrEqualTo(t.transit.capacity());
    }
  }

  /** The kernel reads ahead itself, several reads at once, which come in any order. */
  @Test
  void sequential_reorderedByTheKernel_getsEachByteOnce() {
    long seed = Seeds.next("sequential_reorderedByTheKernel");
    Random random = new Random(seed);
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 32 * MIB, seed);
      for (int burst = 0; burst < 32; burst++) {
        List<Integer> reads = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6, 7));
        Collections.shuffle(reads, random);
        for (int each : reads) {
          read(t, file, (long) burst * MIB + (long) each * READ, READ, 0);
        }
        runAhead();
      }
      assertThat(t.origin.bytesRead()).as("seed %d", seed).isEqualTo(file.bytes().length);
    }
  }

  /**
   * Two passes by two programs, the second a little behind: but for what its first read begins
   * again, it finds all in transit.
   */
  @Test
  void sequential_secondReaderBehindTheFirst_costsItsFirstFetch() {
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 32 * MIB, 1);
      for (int offset = 0; offset < 33 * MIB; offset += READ) {
        if (offset < 32 * MIB) {
          read(t, file, offset, READ, 1);
        }
        if (offset >= MIB) {
          read(t, file, offset - MIB, READ, 2);
        }
        runAhead();
      }
      assertThat(t.origin.bytesRead()).isEqualTo(file.bytes().length + MIB + READ);
    }
  }

  /** A table file: its last bytes, and then columns of some row groups, in pieces. */
  @Test
  void strided_readerOfColumns_costsAtMostTwice() {
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 64 * MIB, 1);
      read(t, file, 64L * MIB - 8 * PAGE, 8 * PAGE, 0);
      long asked = 8 * PAGE;
      for (long group = 0; group < 8; group++) {
        for (long column = 1; column < 8; column += 3) {
          int length = 600_000 + (int) column * 50_000;
          long begin = group * 8 * MIB + column * MIB;
          for (int done = 0; done < length; done += READ) {
            read(t, file, begin + done, Math.min(READ, length - done), 0);
            runAhead();
          }
          asked += length;
          assertThat(t.origin.bytesRead()).isBetween(asked, 2 * asked);
        }
      }
    }
  }

  /** An archive: the head of each member, and the body of some. */
  @Test
  void strided_readerOfMembers_costsAtMostTwice() {
    long seed = Seeds.next("strided_readerOfMembers");
    Random random = new Random(seed);
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 64 * MIB, seed);
      long asked = 0;
      long offset = 3 * PAGE;
      while (offset < 62L * MIB) {
        int body = PAGE * (1 + random.nextInt(60));
        read(t, file, offset, PAGE, 0);
        asked += PAGE;
        if (random.nextInt(3) > 0) {
          read(t, file, offset + PAGE, body, 0);
          asked += body;
        }
        runAhead();
        offset += PAGE + body;
        assertThat(t.origin.bytesRead()).as("seed %d", seed).isLessThanOrEqualTo(2 * asked);
      }
    }
  }

  /** The reader never comes back to the bytes that were fetched around its reads. */
  @ParameterizedTest
  @ValueSource(ints = {512, PAGE, 4 * PAGE, 100_000, 256 << 10, MIB})
  void random_sparseReader_neverCostsMoreThanTwice(int length) {
    long seed = Seeds.next("random_sparseReader");
    Random random = new Random(seed);
    try (TransitFixture t = transit(8 * MIB, 32L * MIB)) {
      File file = t.file("f", 128 * MIB, seed);
      long asked = 0;
      for (int i = 0; i < 200; i++) {
        int slot = 1 + random.nextInt(file.bytes().length / length - 1);
        read(t, file, (long) slot * length, length, i % 3);
        asked += length;
        runAhead();
        assertThat(t.origin.bytesRead()).as("seed %d", seed).isLessThanOrEqualTo(2 * asked);
        assertThat(t.transit.used()).isLessThanOrEqualTo(t.transit.capacity());
      }
    }
  }

  /**
   * Each byte once, in an order that no readahead can guess, with memory for it all. Of 32 places
   * some follow each other by chance often enough to look like a run, in 9 of 300 orders.
   */
  @ParameterizedTest
  @CsvSource({"4096, 1, 32", "4096, 8, 32", "131072, 1, 32", "262144, 8, 32", "1048576, 8, 128"})
  void random_pass_getsEachByteOnce(int length, int threads, int fileMib) {
    assertThat(randomPass(length, threads, fileMib, 2 * fileMib)).isEqualTo(1);
  }

  /** The same where memory holds a quarter of it. */
  @ParameterizedTest
  @CsvSource({"4096, 1", "4096, 8", "131072, 1", "262144, 8", "1048576, 1"})
  void random_passWithLittleMemory_costsAtMostTwice(int length, int threads) {
    assertThat(randomPass(length, threads, 64, 16)).isBetween(1.0, 2.0);
  }

  private double randomPass(int length, int threads, int fileMib, int transitMib) {
    long seed = Seeds.next("randomPass");
    try (TransitFixture t = transit(8 * MIB, (long) transitMib * MIB)) {
      File file = t.file("f", fileMib * MIB, seed);
      List<Integer> slots = new ArrayList<>();
      for (int slot = 0; slot < file.bytes().length / length; slot++) {
        slots.add(slot);
      }
      Collections.shuffle(slots, new Random(seed));
      for (int i = 0; i < slots.size(); i++) {
        read(t, file, (long) slots.get(i) * length, length, i % threads);
        runAhead();
      }
      assertThat(peak.get()).isLessThanOrEqualTo(t.transit.capacity());
      double amplification = (double) t.origin.bytesRead() / file.bytes().length;
      System.out.printf(
          "random pass, %d bytes, %d threads, memory %d of %d MiB: amplification %.3f, %d"
              + " fetches%n",
          length, threads, transitMib, fileMib, amplification, t.origin.opens());
      return amplification;
    }
  }

  /** The kernel reads around a page that was touched in a mapping. */
  @Test
  void mapped_fileTouchedFromBeginningToEnd_getsEachByteOnce() {
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 32 * MIB, 1);
      int size = file.bytes().length;
      read(t, file, 0, MIB / 2, 0);
      for (int at = MIB / 2; at < size; at += MIB) {
        read(t, file, at, Math.min(MIB, size - at), 0);
        runAhead();
      }
      assertThat(t.origin.bytesRead()).isEqualTo(size);
    }
  }

  @Test
  void mapped_fileTouchedAtRandom_costsAtMostTwiceOfWhatTheKernelAsksFor() {
    long seed = Seeds.next("mapped_fileTouchedAtRandom");
    Random random = new Random(seed);
    try (TransitFixture t = transit(8 * MIB, 64L * MIB)) {
      File file = t.file("f", 128 * MIB, seed);
      long asked = 0;
      for (int i = 0; i < 60; i++) {
        long around = (1 + random.nextInt(126 * MIB / PAGE)) * (long) PAGE;
        read(t, file, around, MIB, 0);
        asked += MIB;
        runAhead();
      }
      assertThat(t.origin.bytesRead()).as("seed %d", seed).isLessThanOrEqualTo(2 * asked);
    }
  }

  // readers that have gone

  @Test
  void ahead_ofAReaderThatSeeks_isNotFetched() {
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 64 * MIB, 1);
      for (int offset = 0; offset < 8 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
      }
      assertThat(ahead).isNotEmpty();
      read(t, file, 50L * MIB, PAGE, 0);
      long before = t.origin.bytesRead();
      runAhead();
      assertThat(t.origin.bytesRead()).isEqualTo(before);
      assertThat(t.transit.stats().originErrors.sum()).isZero();
      // and it is there all the same for who comes back
      for (int offset = 8 * MIB; offset < 16 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
        runAhead();
      }
    }
  }

  @Test
  void ahead_ofAReaderThatHasStopped_isNotFetched() {
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 64 * MIB, 1);
      for (int offset = 0; offset < 8 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
      }
      long before = t.origin.bytesRead();
      t.clock.advance(Duration.ofNanos(ReadAhead.PATIENCE_NANOS + 1));
      runAhead();
      assertThat(t.origin.bytesRead()).isEqualTo(before);
      for (int offset = 8 * MIB; offset < 16 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
      }
      assertThat(ahead).as("it goes on").isNotEmpty();
      runAhead();
    }
  }

  /** Nobody waits for it, so it takes no memory from what others have not read yet. */
  @Test
  void ahead_whereMemoryIsInUse_isLeftOut() {
    try (TransitFixture t = transit(ITEM, 8L * MIB)) {
      t.listener.admits = item -> item.length() == ITEM - 1;
      File held = t.file("held", ITEM - 1, 1);
      File held2 = t.file("held2", ITEM - 1, 1);
      read(t, held, 0, PAGE, 1);
      read(t, held2, 0, PAGE, 1);
      File file = t.file("f", 32 * MIB, 2);
      for (int offset = 0; offset < 32 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
        runAhead();
        assertThat(t.transit.used()).isLessThanOrEqualTo(t.transit.capacity());
      }
      assertThat(t.origin.bytesRead()).isEqualTo(32L * MIB + 2 * (ITEM - 1));
    }
  }

  @Test
  void ahead_refusedNowAndThen_costsTimeOnly() {
    Random random = new Random(Seeds.next("ahead_refusedNowAndThen"));
    try (TransitFixture t =
        TransitFixture.direct(
            ITEM,
            32L * MIB,
            task -> {
              if (random.nextInt(3) == 0) {
                throw new RejectedExecutionException("busy");
              }
              task.run();
            })) {
      File file = t.file("f", 32 * MIB, 1);
      for (int offset = 0; offset < 32 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
      }
      assertThat(t.origin.bytesRead()).isEqualTo(file.bytes().length);
    }
  }

  // readers that come together

  /**
   * A reader had found nothing, and then another began to fetch from just before the same byte: the
   * first fetched a part of negative length, and was never answered.
   */
  @Test
  void random_whereAnotherBeginsTheSamePartMeanwhile_costsOneFetch() {
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 64 * MIB, 1);
      int offset = 9 * MIB;
      AtomicBoolean asked = new AtomicBoolean();
      t.listener.admits =
          item -> {
            if (!asked.getAndSet(true)) {
              read(t, file, offset - PAGE, READ, 1);
            }
            return false;
          };
      read(t, file, offset, PAGE, 0);
      assertThat(t.origin.opens()).isOne();
    }
  }

  @Test
  void ahead_whereAnotherBeginsTheSamePartMeanwhile_getsEachByteOnce() {
    try (TransitFixture t = transit(ITEM, 32L * MIB)) {
      File file = t.file("f", 16 * MIB, 1);
      Set<ItemKey> others = new HashSet<>();
      t.listener.admits =
          item -> {
            // whatever item the reader is about to begin, another begins just before it
            if (others.add(item.key())) {
              t.read(file, item.offset(), READ, thread(1 + others.size()));
            }
            return false;
          };
      for (int offset = 0; offset < 16 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
        runAhead();
      }
      assertThat(others).hasSize(8);
      assertThat(t.origin.bytesRead()).isEqualTo(16L * MIB);
    }
  }

  /** The capacity for read-ahead became less each time, until nothing was fetched ahead. */
  @Test
  void ahead_whereAnotherWasQuickerEachTime_goesOn() {
    try (TransitFixture t = transit(ITEM, 16L * MIB)) {
      t.listener.admits = item -> true; // so that whole items are fetched ahead
      File file = t.file("f", 64 * MIB, 1);
      int contested = 48 * MIB;
      for (long offset = ITEM; offset < contested; offset += ITEM) {
        long at = offset;
        t.listener.beforeFetchAt.put(at, () -> t.read(file, at, PAGE, thread(1)));
      }
      boolean goesOn = false;
      for (int offset = 0; offset < 64 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
        goesOn |= offset > contested && !ahead.isEmpty();
        runAhead();
        t.listener.pinAll();
      }
      assertThat(t.listener.beforeFetchAt).isEmpty();
      assertThat(goesOn).isTrue();
    }
  }

  /** Whole items are offered when there is room for them, also to who reads ahead or at random. */
  @Test
  void items_thatWouldBeAdmitted_areFetchedWholeOnceEach() {
    try (TransitFixture t = transit(ITEM, 64L * MIB)) {
      t.listener.admits = item -> true;
      File file = t.file("f", 16 * MIB, 1);
      for (int offset = 0; offset < 16 * MIB; offset += READ) {
        read(t, file, offset, READ, 0);
        runAhead();
      }
      assertThat(t.origin.bytesRead()).isEqualTo(16L * MIB);
      assertThat(t.origin.opens()).isEqualTo(8);
      assertThat(t.listener.admitted).hasSize(8);
    }
  }
}
