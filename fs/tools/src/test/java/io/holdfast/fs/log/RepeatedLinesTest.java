package io.holdfast.fs.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.fs.FakeClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class RepeatedLinesTest {
  private final FakeClock clock = new FakeClock();
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final LoggerContext context = new LoggerContext();
  private final Logger log = context.getLogger("some");

  @BeforeEach
  void start() {
    lines.start();
    log.addAppender(lines);
    log.setLevel(Level.DEBUG);
    context.addTurboFilter(new RepeatedLines(clock));
  }

  private List<String> messages() {
    return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void lines_afterABurst_comeOnceASecondWithTheNumberLeftOut() {
    for (int i = 0; i < RepeatedLines.BURST + 7; i++) {
      log.warn("failed: {}", i);
    }
    assertThat(lines.list).hasSize(RepeatedLines.BURST);
    clock.advance(Duration.ofSeconds(1));
    log.warn("failed: {}", "next");
    log.warn("failed: {}", "too early");
    assertThat(messages().subList(RepeatedLines.BURST, lines.list.size()))
        .containsExactly("7 lines like the next one were left out", "failed: next");
  }

  @Test
  void lines_afterAPause_mayBurstAgain() {
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < RepeatedLines.BURST; i++) {
        log.info("seen {}", i);
      }
      clock.advance(Duration.ofSeconds(RepeatedLines.BURST));
    }
    assertThat(lines.list).hasSize(3 * RepeatedLines.BURST);
  }

  /** Text that is made before the log gets it: each line is a kind of its own. */
  @Test
  void kinds_beyondThoseThatAreToldApart_shareABound() {
    for (int i = 0; i < 10 * RepeatedLines.MOST_KINDS; i++) {
      log.error("failed: " + i);
    }
    assertThat(lines.list).hasSize(RepeatedLines.MOST_KINDS + RepeatedLines.BURST);
  }

  @Test
  void lines_thatSomebodyAskedFor_allPass() {
    for (int i = 0; i < 1000; i++) {
      log.debug("looked at {}", i);
      log.trace("not enabled");
    }
    assertThat(lines.list).hasSize(1000);
  }
}
