package io.holdfast.policy.convoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.policy.convoy.Convoys.Convoy;
import io.holdfast.policy.convoy.Convoys.Verdict;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Convoys of files with ten bytes each; a fetch has the name of its job and its file. */
final class ConvoysTest {
  private static final int BYTES = 10;
  private static final long SECOND = 1_000_000_000L;

  private final Convoys<String> convoys = new Convoys<>(10 * BYTES, 10_000);
  private long now;

  @AfterEach
  void check() {
    convoys.check();
  }

  private void opens(String job, int from, int to) {
    for (int file = from; file < to; file++) {
      convoys.opened(job, job.hashCode(), file, now);
    }
  }

  private Verdict fetches(String job, int file, boolean mayWait) {
    return convoys.begin(job + file, job, job.hashCode(), file, BYTES, false, mayWait, now);
  }

  /** A job opens a file, fetches it, and it has no room. */
  private Verdict reads(String job, int file) {
    convoys.opened(job, job.hashCode(), file, now);
    Verdict verdict = fetches(job, file, false);
    assertThat(convoys.keeps(job + file)).isEqualTo(verdict == Verdict.KEEP);
    return verdict;
  }

  private List<String> letGo() {
    List<String> all = new ArrayList<>();
    for (String each = convoys.nextToLetGo(); each != null; each = convoys.nextToLetGo()) {
      all.add(each);
    }
    return all;
  }

  private List<String> goOn() {
    List<String> all = new ArrayList<>();
    for (String each = convoys.nextToGoOn(); each != null; each = convoys.nextToGoOn()) {
      all.add(each);
    }
    return all;
  }

  /** Two jobs at the same place of one order, files 0 to 31. */
  private void pair() {
    opens("a", 0, 32);
    opens("b", 0, 32);
    assertThat(convoys.convoys()).extracting(Convoy::jobs).containsExactly(List.of("a", "b"));
  }

  @Test
  void jobOfItsOwn_keepsNothing() {
    opens("a", 0, 100);
    assertThat(reads("a", 100)).isEqualTo(Verdict.PLAIN);
    assertThat(convoys.heldBytes()).isZero();
    assertThat(convoys.convoys()).isEmpty();
    assertThat(convoys.members()).isEmpty();
  }

  @Test
  void jobThatReadsTheSame_isFoundBySixteenOpens() {
    opens("a", 0, 50);
    opens("b", 0, 15);
    assertThat(convoys.convoys()).isEmpty();
    opens("b", 15, 16);
    assertThat(convoys.convoys()).hasSize(1);
  }

  @Test
  void jobOfAnotherOrder_isNotFound() {
    opens("a", 0, 1000);
    for (int file = 0; file < 1000; file++) {
      convoys.opened("b", 7, file * 7919L % 1000, now);
    }
    assertThat(convoys.convoys()).isEmpty();
  }

  @Test
  void fetched_isKeptUntilTheOtherHasGoneOn() {
    pair();
    assertThat(reads("a", 32)).isEqualTo(Verdict.KEEP);
    assertThat(convoys.heldBytes()).isEqualTo(BYTES);
    opens("b", 32, 33);
    assertThat(letGo()).as("it is being read").isEmpty();
    opens("b", 33, 34);
    assertThat(letGo()).containsExactly("a32");
    assertThat(convoys.heldBytes()).isZero();
  }

  /** Bytes for b used to stay until the end of its pass where each thread opened one file. */
  @ParameterizedTest
  @ValueSource(ints = {1000, 100})
  void fetched_isLetGoWhereEachFileIsReadByAnotherThread(int threads) {
    Convoys<String> large = new Convoys<>(10_000, 10_000);
    for (int file = 0; file < 200; file++) {
      large.opened("a", -1, file, now);
      large.opened("b", file % threads, file, now);
      if (file >= 32) {
        Verdict verdict = large.begin("a" + file, "a", -1, file, BYTES, false, false, now);
        assertThat(verdict).isIn(Verdict.KEEP, Verdict.PLAIN);
      }
      large.check();
    }
    assertThat(large.heldBytes()).isLessThanOrEqualTo((long) BYTES * Job.MOST_THREADS);
  }

  @Test
  void fetched_isLetGoWhenTheOtherHadItsLastByte() {
    pair();
    reads("a", 32);
    opens("b", 32, 33);
    convoys.delivered("a32", "b", 6, now);
    assertThat(letGo()).isEmpty();
    convoys.delivered("a32", "a", BYTES, now);
    assertThat(letGo()).as("its own job does not count").isEmpty();
    convoys.delivered("a32", "b", 4, now);
    assertThat(letGo()).containsExactly("a32");
  }

  /** Another job once overtook the one that it was fetched for, and that had to fetch it again. */
  @Test
  void fetchedAhead_isKeptUntilTheJobThatItIsForHasIt() {
    pair();
    assertThat(convoys.begin("a40", "a", "a".hashCode(), 40, BYTES, true, false, now))
        .isEqualTo(Verdict.KEEP);
    assertThat(convoys.keeps("a40")).isTrue();
    opens("b", 32, 42);
    assertThat(letGo()).isEmpty();
    opens("a", 32, 41);
    assertThat(letGo()).as("it is being read").isEmpty();
    opens("a", 41, 42);
    assertThat(letGo()).containsExactly("a40");
  }

  /** The open is noticed later than the read, and until then the item could be fetched ahead. */
  @Test
  void fetched_isKeptUntilTheOpenOfItsReaderIsNoticed() {
    pair();
    reads("a", 32);
    convoys.delivered("a32", "b", BYTES, now);
    assertThat(letGo()).isEmpty();
    opens("b", 32, 33);
    assertThat(letGo()).containsExactly("a32");
  }

  /** A job is at another place of the order by now, and has read what the others fetch. */
  @Test
  void fetchedByTheLast_isNotKeptForThoseBeforeIt() {
    pair();
    opens("a", 32, 40);
    assertThat(reads("b", 32)).isEqualTo(Verdict.PLAIN);
    assertThat(convoys.heldBytes()).isZero();
  }

  @Test
  void parts_countEachByItsBytes() {
    pair();
    convoys.opened("a", "a".hashCode(), 32, now);
    assertThat(convoys.begin("p1", "a", 1, 32, 60, false, false, now)).isEqualTo(Verdict.KEEP);
    assertThat(convoys.begin("p2", "a", 1, 32, 40, false, false, now)).isEqualTo(Verdict.KEEP);
    assertThat(convoys.heldBytes()).isEqualTo(100);
    assertThat(convoys.begin("p3", "a", 1, 32, 1, false, true, now)).isEqualTo(Verdict.WAIT);
    assertThat(convoys.keeps("p1")).isTrue();
    convoys.ended("p2", now);
    assertThat(goOn()).containsExactly("p3");
    assertThat(convoys.heldBytes()).isEqualTo(61);
  }

  @Test
  void larger_thanTheBudget_isNotKept_andDoesNotWait() {
    pair();
    assertThat(convoys.begin("x", "a", 1, 32, 101, false, true, now)).isEqualTo(Verdict.PLAIN);
  }

  @Test
  void stopped_freesWhatIsKeptForIt_andEndsTheWaitForIt() {
    pair();
    for (int file = 32; file < 42; file++) {
      assertThat(reads("a", file)).isEqualTo(Verdict.KEEP);
    }
    convoys.opened("a", "a".hashCode(), 42, now);
    assertThat(fetches("a", 42, true)).isEqualTo(Verdict.WAIT);
    convoys.stopped("b", now);
    assertThat(letGo()).hasSize(10);
    assertThat(goOn()).containsExactly("a42");
    assertThat(convoys.heldBytes()).isZero();
    assertThat(convoys.convoys()).isEmpty();
  }

  @Test
  void ahead_ofItsReader_isLeftOutWhereAMissWouldWait() {
    pair();
    for (int file = 32; file < 42; file++) {
      reads("a", file);
    }
    assertThat(convoys.begin("ahead", "a", 1, 42, BYTES, true, true, now)).isEqualTo(Verdict.WAIT);
    assertThat(convoys.delayed()).isZero();
    opens("b", 32, 64);
    assertThat(goOn()).isEmpty();
  }

  /** Its next step has to count it as over. */
  @Test
  void delayed_thatEnds_goesOn() {
    pair();
    for (int file = 32; file < 42; file++) {
      reads("a", file);
    }
    assertThat(fetches("a", 42, true)).isEqualTo(Verdict.WAIT);
    convoys.ended("a42", now);
    assertThat(goOn()).containsExactly("a42");
    assertThat(convoys.delayed()).isZero();
  }

  @Test
  void delayed_goesOnBehindALargerOneThatDoes() {
    pair();
    for (int file = 32; file < 41; file++) {
      reads("a", file);
    }
    convoys.opened("a", "a".hashCode(), 41, now);
    assertThat(convoys.begin("large", "a", 1, 41, 60, false, true, now)).isEqualTo(Verdict.WAIT);
    convoys.opened("a", "a".hashCode(), 42, now);
    assertThat(convoys.begin("small", "a", 2, 42, BYTES, false, true, now))
        .isIn(Verdict.KEEP, Verdict.WAIT);
    convoys.joined("large", 99, now);
    convoys.check();
  }

  @Test
  void job_waitsForNoneThatIsBeforeIt() {
    opens("c", 0, 60);
    convoys.stopped("c", now);
    pair();
    for (int file = 33; file < 43; file++) {
      reads("a", file);
    }
    convoys.opened("b", "b".hashCode(), 32, now); // one that the other has passed over
    assertThat(fetches("b", 32, true)).isEqualTo(Verdict.PLAIN);
    assertThat(convoys.heldBytes()).isEqualTo(10L * BYTES);
  }

  @Test
  void lastJob_forWhichSomethingIsKept_isStillLookedAt() {
    pair();
    reads("a", 32);
    convoys.stopped("a", now);
    assertThat(convoys.members()).extracting(Convoys.Member::job).containsExactly("b");
    convoys.stopped("b", now);
    assertThat(letGo()).containsExactly("a32");
    assertThat(convoys.members()).isEmpty();
  }

  /** Ten thousand files may be known; each pass has a thousand. */
  @Test
  void jobsThatStopped_keepNoPassesOfTheOthers_norRoomForFiles() {
    Convoys<String> few = new Convoys<>(100, 10_000);
    for (int pass = 0; pass < 30; pass++) {
      for (int file = 0; file < 1000; file++) {
        few.opened("a", 1, file, now);
        if (pass == 0) {
          few.opened("b", 2, file, now);
          few.opened("c", 3, file, now);
        }
      }
      if (pass == 0) {
        few.stopped("b", now);
      }
      few.check();
    }
    for (int trial = 0; trial < 20; trial++) {
      for (int file = 0; file < 1000; file++) {
        few.opened("trial" + trial, 4, 1_000_000L * trial + file, now);
      }
      few.stopped("trial" + trial, now);
    }
    now += 120 * SECOND;
    for (int file = 0; file < 32; file++) {
      few.opened("d", 5, -1 - file, now);
      few.opened("e", 6, -1 - file, now);
    }
    few.check();
    assertThat(few.convoys()).extracting(Convoy::jobs).contains(List.of("d", "e"));
    few.opened("b", 2, 5, now);
    few.check();
  }

  @Test
  void delayed_isOnlyWhatWaitsForTheOrigin() {
    pair();
    for (int file = 32; file < 42; file++) {
      reads("a", file);
    }
    convoys.opened("a", "a".hashCode(), 42, now);
    assertThat(fetches("a", 42, false)).as("the other is left behind").isEqualTo(Verdict.PLAIN);
    assertThat(letGo()).hasSize(10);
  }

  @Test
  void delayed_goesOnAsSoonAsTheOtherHasReadSome() {
    pair();
    for (int file = 32; file < 42; file++) {
      reads("a", file);
    }
    convoys.opened("a", "a".hashCode(), 42, now);
    fetches("a", 42, true);
    now += SECOND / 2;
    opens("b", 32, 34);
    assertThat(goOn()).containsExactly("a42");
    assertThat(convoys.convoys().get(0).delayedNanos()).isEqualTo(SECOND / 2);
    assertThat(convoys.keeps("a42")).isTrue();
  }

  @Test
  void delayed_goesOnForAnotherReader() {
    pair();
    for (int file = 32; file < 42; file++) {
      reads("a", file);
    }
    fetches("a", 42, true);
    convoys.joined("a42", "a".hashCode(), now);
    assertThat(goOn()).as("the same thread").isEmpty();
    convoys.joined("a42", 99, now);
    assertThat(goOn()).containsExactly("a42");
  }

  /** However many wait, and however often: the time of a job counts once, and then nobody waits. */
  @Test
  void delayed_waitsTwoSecondsForOneJob_andOnlyOnce() {
    pair();
    for (int file = 32; file < 42; file++) {
      reads("a", file);
    }
    for (int file = 42; file < 50; file++) {
      assertThat(fetches("a", file, true)).isEqualTo(Verdict.WAIT);
      now += SECOND / 10;
      convoys.expire(now);
    }
    assertThat(convoys.delayed()).isEqualTo(8);
    now = 2 * SECOND - 1;
    convoys.expire(now);
    assertThat(goOn()).isEmpty();
    now = 2 * SECOND;
    convoys.expire(now);
    assertThat(goOn()).hasSize(8);
    assertThat(letGo()).hasSize(10);
    assertThat(convoys.convoys().get(0).delayedNanos()).isEqualTo(2 * SECOND);
    opens("b", 32, 64);
    for (int file = 50; file < 200; file++) {
      convoys.opened("a", "a".hashCode(), file, now);
      assertThat(fetches("a", file, true)).isNotEqualTo(Verdict.WAIT);
    }
  }

  @Test
  void leftBehind_andCaughtUp_takesPartAgain() {
    pair();
    for (int file = 32; file < 43; file++) {
      reads("a", file);
    }
    assertThat(reads("a", 43)).as("it is behind").isEqualTo(Verdict.PLAIN);
    opens("b", 32, 43);
    assertThat(reads("a", 44)).isEqualTo(Verdict.KEEP);
  }

  /** The next epoch has another order, of which nothing is known before it begins. */
  @Test
  void nextPass_isSharedFromItsFirstFile() {
    opens("a", 0, 100);
    opens("b", 0, 98);
    for (int i = 0; i < 5; i++) {
      assertThat(reads("a", 50 - 7 * i)).as("file %d", i).isEqualTo(Verdict.KEEP);
    }
    opens("b", 98, 100);
    assertThat(letGo()).as("those are of the pass before").isEmpty();
    for (int i = 0; i < 5; i++) {
      convoys.opened("b", 2, 50 - 7 * i, now);
    }
    assertThat(letGo()).hasSizeBetween(3, 4);
  }

  @Test
  void diverging_leaves_andFreesWhatIsKeptForIt() {
    pair();
    reads("a", 32);
    for (int file = 5000; file < 5200; file++) {
      convoys.opened("b", 2, file, now);
      convoys.opened("a", 1, file - 4900, now);
    }
    assertThat(convoys.convoys()).isEmpty();
    assertThat(convoys.heldBytes()).isZero();
  }

  @Test
  void announced_isWantedBeforeItBegins() {
    convoys.announced("a", 5, now);
    convoys.announced("b", 5, now);
    convoys.announced("c", 6, now);
    assertThat(convoys.convoys()).extracting(Convoy::jobs).containsExactly(List.of("a", "b"));
    assertThat(reads("a", 0)).isEqualTo(Verdict.KEEP);
    opens("b", 0, 2);
    assertThat(letGo()).containsExactly("a0");
  }

  @Test
  void announced_thatDoesNotBegin_isNotWaitedFor() {
    convoys.announced("a", 5, now);
    convoys.announced("b", 5, now);
    for (int file = 0; file < 10; file++) {
      reads("a", file);
    }
    assertThat(fetches("a", 10, true)).isEqualTo(Verdict.PLAIN);
    assertThat(letGo()).hasSize(10);
  }

  @Test
  void groups_haveEqualSharesOfAFullBudget() {
    pair();
    for (int file = 32; file < 42; file++) {
      reads("a", file);
    }
    opens("x", 1000, 1032);
    opens("y", 1000, 1032);
    assertThat(reads("x", 1032)).isEqualTo(Verdict.KEEP);
    assertThat(letGo()).as("the first has more than its half").hasSize(10);
  }

  @Test
  void jobs_areBounded() {
    for (int job = 0; job < 200; job++) {
      opens("job" + job, 0, 20);
    }
    assertThat(convoys.members()).hasSize(Groups.MOST_JOBS);
  }

  /** Tiny files would take much more heap than they have bytes. */
  @Test
  void entries_areBounded() {
    Convoys<String> few = new Convoys<>(1_000_000, 800);
    few.announced("a", 5, now);
    few.announced("b", 5, now);
    for (int file = 0; file < 150; file++) {
      Verdict verdict = few.begin("f" + file, "a", 1, file, 1, false, true, now);
      assertThat(verdict).isEqualTo(file < 100 ? Verdict.KEEP : Verdict.PLAIN);
    }
    few.check();
  }

  /** A slow one used to keep the others from sharing once there were the most entries. */
  @Test
  void entries_areTheMost_theLastJobIsLeftBehind() {
    Convoys<String> few = new Convoys<>(1_000_000, 8 * 100);
    for (int file = 0; file < 232; file++) {
      few.opened("a", 1, file, now);
      if (file < 32) {
        few.opened("c", 3, file, now);
      } else {
        String fetch = "a" + file;
        Verdict verdict = few.begin(fetch, "a", 1, file, BYTES, false, false, now);
        assertThat(verdict).as(fetch).isEqualTo(Verdict.KEEP);
        assertThat(few.keeps(fetch)).isTrue();
      }
      if (file == 200) {
        few.opened("c", 3, 32, now); // it is still far behind
      }
      if (file > 0) {
        few.opened("b", 2, file - 1, now);
      }
      few.check();
    }
    assertThat(few.heldBytes()).as("nothing is kept for c").isLessThanOrEqualTo(3L * BYTES);
  }

  /** One convoy has the most bytes, another one the most entries. */
  @Test
  void entries_areTheMost_theConvoyWithMostEntriesMakesRoom() {
    Convoys<String> few = new Convoys<>(1_000_000, 8 * 100);
    for (int file = 0; file < 32; file++) {
      few.opened("a", 1, file, now);
      few.opened("b", 2, file, now);
      few.opened("x", 3, 1000 + file, now);
      few.opened("y", 4, 1000 + file, now);
    }
    assertThat(few.begin("large", "a", 1, 32, 100_000, false, false, now)).isEqualTo(Verdict.KEEP);
    assertThat(few.keeps("large")).isTrue();
    for (int file = 32; file < 132; file++) {
      few.begin("x" + file, "x", 3, 1000 + file, BYTES, false, false, now);
      few.opened("x", 3, 1000 + file, now);
    }
    few.check();
    few.opened("a", 1, 32, now);
    assertThat(few.begin("a33", "a", 1, 33, BYTES, false, false, now)).isEqualTo(Verdict.KEEP);
    few.check();
    assertThat(few.keeps("large")).as("it is kept for b").isTrue();
  }

  @Test
  void files_areBounded() {
    Convoys<String> few = new Convoys<>(100, 1000);
    for (int file = 0; file < 5000; file++) {
      few.opened("a", 1, file, now);
      few.opened("b", 2, file, now);
      few.check();
    }
  }
}
