package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class NamedThreadsTest {
  @Test
  void factory_numbersItsThreads() {
    NamedThreads threads = new NamedThreads("fetch");
    assertThat(threads.newThread(() -> {}).getName()).isEqualTo("fetch-1");
    Thread second = threads.newThread(() -> {});
    assertThat(second.getName()).isEqualTo("fetch-2");
    assertThat(second.isDaemon()).isTrue();
  }

  @Test
  void thread_thatFails_logsWithWhat() throws Exception {
    ListAppender<ILoggingEvent> events = new ListAppender<>();
    events.start();
    Logger log = (Logger) LoggerFactory.getLogger(NamedThreads.class);
    log.addAppender(events);
    try {
      Thread thread =
          NamedThreads.start(
              "breaks",
              () -> {
                throw new IllegalStateException("broken");
              });
      thread.join();
    } finally {
      log.detachAppender(events);
    }
    assertThat(events.list)
        .singleElement()
        .satisfies(
            event -> {
              assertThat(event.getFormattedMessage()).isEqualTo("thread breaks failed");
              assertThat(event.getThrowableProxy().getMessage()).isEqualTo("broken");
            });
  }
}
