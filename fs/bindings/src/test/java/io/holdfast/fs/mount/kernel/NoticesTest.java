package io.holdfast.fs.mount.kernel;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.IsolatedThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class NoticesTest {
  private static final long USED = 2;
  private static final long FREE = 3;

  private final IsolatedThreads.Failures failures = new IsolatedThreads.Failures();
  private final List<String> taken = new CopyOnWriteArrayList<>();
  private final CountDownLatch sending = new CountDownLatch(1);
  private final CountDownLatch freed = new CountDownLatch(1);
  private IsolatedThreads threads;
  private Notices notices;

  @BeforeEach
  void start() throws FsException {
    threads = IsolatedThreads.start("test-notice", 2, 0, failures);
    notices = new Notices(threads, Duration.ofMillis(20));
  }

  @AfterEach
  void end() {
    freed.countDown();
    threads.close();
  }

  private static byte[] name(String text) {
    return text.getBytes(US_ASCII);
  }

  private boolean tell(long directory, String name) {
    return notices.giveAndWait(directory, name(name), () -> take(directory, name));
  }

  /** Gives a notice whose caller waits in vain, and returns once a thread is sending it. */
  private void tellOfTheUsed(String name) {
    assertThat(tell(USED, name)).isTrue();
    Await.latch(sending);
  }

  private void take(long directory, String name) {
    if (directory == USED) {
      sending.countDown();
      Await.latch(freed);
    }
    taken.add(directory + "/" + name);
  }

  private long inVain() {
    return notices.inVain(directory -> true).orElse(0);
  }

  /** A user may change ever new names of a directory that is in use. */
  @Test
  void directoryIsInUse_manyNoticesWait_callersWaitAgain() {
    tellOfTheUsed("taken by a thread");
    for (int i = 0; i < Notices.MOST; i++) {
      assertThat(tell(USED, "name" + i)).isFalse();
    }

    assertThat(tell(USED, "more")).isTrue();
  }

  /** A user who listed one directory into memory that hangs kept all notices from the kernel. */
  @Test
  void directoryIsInUse_noticesAboutOthersAreTaken() {
    tellOfTheUsed("a");
    assertThat(tell(USED, "b")).isFalse();
    assertThat(tell(USED, "c")).isFalse();
    Object unused = notices.give(FREE, name("a"), () -> take(FREE, "a"));

    Await.until("the other is taken", () -> taken.equals(List.of("3/a")));
    assertThat(inVain()).isEqualTo(USED);
    assertThat(notices.inVain(directory -> directory != USED)).isEmpty();
  }

  @Test
  void directoryIsFreed_kernelGetsItsNoticesInTheirOrderAndEachOnce() {
    tellOfTheUsed("a");
    for (String name : List.of("b", "c", "b", "c", "b")) {
      assertThat(tell(USED, name)).isFalse();
    }

    freed.countDown();
    Await.until("the directory is free", () -> inVain() == 0);

    assertThat(taken).containsExactly("2/a", "2/b", "2/c");
    Object unused = notices.give(USED, name("b"), () -> take(USED, "b"));
    Await.until("it is sent again", () -> taken.equals(List.of("2/a", "2/b", "2/c", "2/b")));
  }

  @Test
  void directoryIsFree_callerReturnsWhenTheKernelHasTheNotice() {
    Notices patient = new Notices(threads, Duration.ofMinutes(2));
    assertThat(patient.giveAndWait(FREE, name("a"), () -> take(FREE, "a"))).isFalse();

    assertThat(taken).containsExactly("3/a");
    assertThat(patient.inVain(directory -> true)).isEmpty();
  }

  /** The kernel is being given one, and what has changed since is not in it. */
  @Test
  void nameIsBeingSent_isSentAgain() {
    tellOfTheUsed("a");
    assertThat(tell(USED, "a")).isFalse();

    freed.countDown();
    Await.until("the directory is free", () -> inVain() == 0);

    assertThat(taken).containsExactly("2/a", "2/a");
  }

  @Test
  void notice_thatFails_isNotTheLastOfItsDirectory() {
    CountDownLatch both = new CountDownLatch(1);
    Object unused =
        notices.give(
            FREE,
            name("a"),
            () -> {
              Await.latch(both);
              throw new IllegalStateException("made for the test");
            });
    Object unusedToo = notices.give(FREE, name("b"), () -> take(FREE, "b"));
    both.countDown();

    Await.until("the next is sent", () -> taken.contains("3/b"));
  }

  @Test
  void mountIsGone_noticeIsNotWaitedFor() {
    threads.close();
    assertThat(tell(USED, "a")).isFalse();
    assertThat(inVain()).isZero();
  }
}
