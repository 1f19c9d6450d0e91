package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.Sandbox;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class IsolatedThreadsTest {
  private Sandbox sandbox;
  private Path file;
  private final IsolatedThreads.Failures failures = new IsolatedThreads.Failures();
  private IsolatedThreads threads;

  @BeforeEach
  void start() throws IOException {
    sandbox = Sandbox.create();
    file = sandbox.path("file");
    Files.write(file, new byte[1]);
    threads = IsolatedThreads.start("test-isolated", 1, 0, failures);
  }

  @AfterEach
  void close() throws IOException {
    threads.close();
    sandbox.close();
  }

  private <T> T isolated(Callable<T> call) throws Exception {
    FutureTask<T> task = new FutureTask<>(call);
    threads.execute(task);
    return task.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS);
  }

  private int open() {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(file.toString()));
    return LIBC.openat(Linux.AT_FDCWD, path, Linux.O_RDONLY | Linux.O_CLOEXEC, 0);
  }

  /** Returns what a descriptor of the calling thread leads to, or nothing. */
  private static String target(int fd) {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes("/proc/thread-self/fd/" + fd));
    long area = Linux.scratch().area();
    long length = LIBC.readlinkat(Linux.AT_FDCWD, path, area, 4096);
    return length < 0 ? "" : new String(Memory.bytes(area, (int) length), StandardCharsets.UTF_8);
  }

  @Test
  void descriptor_openedByTheProcess_isNotInTheirTable() throws Exception {
    int fd = open();
    try {
      assertThat(target(fd)).isEqualTo(file.toString());
      assertThat(isolated(() -> target(fd))).isNotEqualTo(file.toString());
    } finally {
      LIBC.close(fd);
    }
  }

  @Test
  void descriptor_openedByThem_isNotInOurTable() throws Exception {
    int fd = isolated(this::open);
    assertThat(isolated(() -> target(fd))).isEqualTo(file.toString());
    assertThat(target(fd)).isNotEqualTo(file.toString());
    assertThat(sandbox.openDescriptors()).isZero();
    assertThat(isolated(() -> LIBC.close(fd))).isZero();
  }

  @Test
  void descriptors_ofTwoThreads_areApart() throws Exception {
    try (IsolatedThreads others = IsolatedThreads.start("test-others", 1, 0, failures)) {
      int fd = isolated(this::open);
      FutureTask<String> look = new FutureTask<>(() -> target(fd));
      others.execute(look);
      assertThat(look.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS))
          .isNotEqualTo(file.toString());
      assertThat(isolated(() -> LIBC.close(fd))).isZero();
    }
  }

  /** A pool starts its threads from whichever thread brings a task. */
  @Test
  void threads_thatTheyStart_haveOurTable() throws Exception {
    ExecutorService pool = Executors.newCachedThreadPool(new NamedThreads("test-pool"));
    int fd = open();
    try {
      FutureTask<String> look = new FutureTask<>(() -> target(fd));
      isolated(
          () -> {
            pool.execute(look);
            return true;
          });
      assertThat(look.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS)).isEqualTo(file.toString());
    } finally {
      LIBC.close(fd);
      pool.shutdownNow();
    }
  }

  @Test
  void thread_thatTheyCannotStart_isTheirFailure() throws Exception {
    Thread started = NamedThreads.named("test-started", () -> {});
    started.start();
    started.join();
    assertThatThrownBy(
            () ->
                isolated(
                    () -> {
                      started.start();
                      return true;
                    }))
        .hasRootCauseInstanceOf(IllegalThreadStateException.class);
  }

  @Test
  void standardStreams_leadNowhere() throws Exception {
    for (int fd = 0; fd < 3; fd++) {
      int each = fd;
      assertThat(isolated(() -> target(each))).isEqualTo("/dev/null");
    }
  }

  @Test
  void tasks_ofOneThread_runInOrder() throws Exception {
    List<Integer> order = new java.util.concurrent.CopyOnWriteArrayList<>();
    for (int i = 0; i < 100; i++) {
      int each = i;
      threads.execute(() -> order.add(each));
    }
    isolated(() -> true);
    assertThat(order).hasSize(100).isSorted();
  }

  @Test
  void failure_ofATask_isKeptOnceAndEndsNothing() throws Exception {
    String[] name = new String[1];
    threads.execute(
        () -> {
          name[0] = Thread.currentThread().getName();
          throw new IllegalStateException("broken");
        });
    assertThat(isolated(() -> "alive")).isEqualTo("alive");
    assertThat(failures())
        .extractingByKey(name[0])
        .extracting(Throwable::getMessage)
        .isEqualTo("broken");
    assertThat(failures()).isEmpty();
  }

  private Map<String, Throwable> failures() {
    Map<String, Throwable> all = new HashMap<>();
    failures.take(all::put);
    return all;
  }

  @Test
  void waiting_tasksThatHaveNotBegun_areCounted() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    threads.execute(
        () -> {
          entered.countDown();
          Await.latch(leave);
        });
    Await.latch(entered);
    threads.execute(() -> {});
    threads.execute(() -> {});
    assertThat(threads.waiting()).isEqualTo(2);
    leave.countDown();
    isolated(() -> true);
    assertThat(threads.waiting()).isZero();
  }

  @Test
  void close_endsTheThreadsAndRefusesTasks() throws Exception {
    Thread thread = isolated(Thread::currentThread);
    assertThat(thread.isDaemon()).isTrue();
    assertThat(thread.getName()).startsWith("test-isolated");
    threads.close();
    thread.join(Await.LONGEST.toMillis());
    assertThat(thread.isAlive()).isFalse();
    assertThatThrownBy(() -> threads.execute(() -> {}))
        .isInstanceOf(RejectedExecutionException.class);
    threads.close();
  }

  @Test
  void close_duringATask_letsItEnd() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    threads.execute(
        () -> {
          entered.countDown();
          Await.latch(leave);
          ended.countDown();
        });
    Await.latch(entered);
    threads.close();
    leave.countDown();
    Await.latch(ended);
  }
}
