package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class PatientThreadsTest {
  private final AtomicBoolean mayStart = new AtomicBoolean(true);
  private final AtomicInteger started = new AtomicInteger();
  private final PatientThreads threads = new PatientThreads(2, this::thread);

  private Thread thread(Runnable work) {
    if (!mayStart.get()) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    started.incrementAndGet();
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  @AfterEach
  void close() {
    threads.close();
  }

  @Test
  void execute_whereNoThreadCanBeStarted_runsOnceOneCan() throws InterruptedException {
    List<String> done = new CopyOnWriteArrayList<>();
    CountDownLatch both = new CountDownLatch(2);
    mayStart.set(false);
    for (String each : List.of("first", "second")) {
      threads.execute(
          () -> {
            done.add(each);
            both.countDown();
          });
    }
    threads.startLeft();
    assertThat(done).isEmpty();
    mayStart.set(true);
    threads.startLeft();
    assertThat(both.await(1, TimeUnit.MINUTES)).isTrue();
    assertThat(done).containsExactly("first", "second");
  }

  @Test
  void startLeft_withNothingLeft_startsNoThread() {
    threads.startLeft();
    assertThat(started).hasValue(0);
  }

  /** One that is held by the kernel keeps no other one waiting. */
  @Test
  void execute_whileATaskIsStuck_runsOnAnotherThread() throws InterruptedException {
    CountDownLatch stuck = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    threads.execute(
        () -> {
          try {
            stuck.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    threads.execute(done::countDown);
    assertThat(done.await(1, TimeUnit.MINUTES)).isTrue();
    stuck.countDown();
  }
}
