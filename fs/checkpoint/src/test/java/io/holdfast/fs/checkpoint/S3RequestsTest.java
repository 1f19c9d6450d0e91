package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class S3RequestsTest {
  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** It could come beside the next attempt, and delete an object that this one has made. */
  @Test
  void requestThatIsUnderWay_whenAnotherOneFails_isAwaited() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    S3Requests.Request failing =
        () -> {
          await(started);
          throw new FsException(FsError.ACCESS_DENIED, "denied");
        };
    S3Requests.Request slow =
        () -> {
          started.countDown();
          await(answered);
        };
    try (S3Requests requests = new S3Requests()) {
      CompletableFuture<Void> all =
          CompletableFuture.runAsync(
              () ->
                  assertThatThrownBy(() -> requests.all(List.of(failing, slow)))
                      .hasMessage("denied"));

      await(started);
      assertThatThrownBy(() -> all.get(300, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      answered.countDown();
      all.get();
    }
  }

  @Test
  void requests_behindOneThatHasFailed_areNotSent() {
    AtomicInteger sent = new AtomicInteger();
    List<S3Requests.Request> requests = new ArrayList<>();
    CountDownLatch failed = new CountDownLatch(1);
    requests.add(
        () -> {
          failed.countDown();
          throw new FsException(FsError.IO, "first");
        });
    for (int i = 0; i < 1000; i++) {
      requests.add(
          () -> {
            await(failed);
            sent.incrementAndGet();
            throw new FsException(FsError.IO, "next");
          });
    }

    try (S3Requests some = new S3Requests()) {
      assertThatThrownBy(() -> some.all(requests)).isInstanceOf(FsException.class);
    }
    assertThat(sent.get()).isLessThan(8);
  }
}
