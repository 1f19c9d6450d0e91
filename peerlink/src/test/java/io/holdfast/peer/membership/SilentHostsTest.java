package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class SilentHostsTest {
  private static final SocketAddress ONE = InetSocketAddress.createUnresolved("one", 1);
  private static final SocketAddress OTHER = InetSocketAddress.createUnresolved("other", 1);

  private final AtomicLong clock = new AtomicLong();
  private final Semaphore answer = new Semaphore(0);
  private final AtomicBoolean ended = new AtomicBoolean();
  private final BlockingQueue<SocketAddress> tried = new LinkedBlockingQueue<>();
  private final SilentHosts silent =
      new SilentHosts(Attempt::new, Duration.ofSeconds(1), clock::get);

  @AfterEach
  void tearDown() {
    silent.close();
  }

  /** An attempt of a thread, which ends when the test says so. */
  private final class Attempt extends Socket {
    @Override
    public void connect(SocketAddress to, int timeoutMillis) throws IOException {
      tried.add(to);
      try {
        answer.acquire();
      } catch (InterruptedException e) {
        ended.set(true);
        throw new IOException(e);
      }
    }
  }

  private void waitInVain(SocketAddress to) {
    assertThatThrownBy(
            () ->
                silent.connect(
                    to,
                    () -> {
                      clock.addAndGet(Duration.ofSeconds(4).toNanos());
                      throw new SocketTimeoutException("nobody answers");
                    }))
        .hasMessage("nobody answers");
  }

  private boolean isAsked(SocketAddress to) {
    AtomicBoolean asked = new AtomicBoolean();
    try {
      silent.connect(to, () -> asked.set(true));
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("has not answered");
    }
    return asked.get();
  }

  @Test
  void connect_hostHasNotAnswered_failsAtOnceUntilAThreadHasReachedIt() throws Exception {
    waitInVain(ONE);
    assertThat(tried.take()).isEqualTo(ONE);
    assertThat(isAsked(ONE)).isFalse();
    clock.addAndGet(Duration.ofMinutes(10).toNanos());
    assertThat(isAsked(ONE)).isFalse();
    assertThat(tried).isEmpty();

    answer.release();

    Cluster.until(() -> isAsked(ONE), () -> "asked");
  }

  /** Each host of a rack that was switched off would have held all messages up in turn. */
  @Test
  void connect_anotherHostHasJustNotAnswered_waitsForNoOther() throws Exception {
    waitInVain(ONE);
    assertThat(tried.take()).isEqualTo(ONE);

    assertThat(isAsked(OTHER)).isFalse();

    assertThat(tried.take()).isEqualTo(OTHER);
    answer.release(2);
    Cluster.until(() -> isAsked(OTHER), () -> "asked");
  }

  @Test
  void connect_calmIsOver_asksHostsThatWereNotSilent() throws Exception {
    waitInVain(ONE);
    assertThat(tried.take()).isEqualTo(ONE);
    clock.addAndGet(SilentHosts.CALM.toNanos() + 1);

    assertThat(isAsked(OTHER)).isTrue();
  }

  @Test
  void connect_refusedAtOnce_isNotSilent() {
    assertThatThrownBy(
            () ->
                silent.connect(
                    ONE,
                    () -> {
                      throw new ConnectException("refused");
                    }))
        .hasMessage("refused");

    assertThat(isAsked(ONE)).isTrue();
    assertThat(tried).isEmpty();
  }

  @Test
  void close_endsAttempts() throws Exception {
    waitInVain(ONE);
    assertThat(tried.take()).isEqualTo(ONE);

    silent.close();

    assertThat(ended).isTrue();
  }
}
