package io.holdfast.fs.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import io.holdfast.fs.figures.LogLine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of {@link RecentLines}. */
class RecentLinesTest {
  private final LoggerContext context = new LoggerContext();
  private final RecentLines lines = new RecentLines();
  private final Logger log = context.getLogger("a");

  @BeforeEach
  void begin() {
    lines.setContext(context);
    lines.start();
    log.addAppender(lines);
    log.setLevel(Level.TRACE);
  }

  @AfterEach
  void end() {
    context.stop();
  }

  @Test
  void lines_areWarningsAndErrorsWithTheNewestFirst() {
    log.info("nothing");
    log.warn("{} is slow", "x");
    log.error("failed", new IllegalStateException("why"));
    assertThat(lines.newestFirst()).extracting(LogLine::level).containsExactly("error", "warn");
    assertThat(lines.newestFirst())
        .extracting(LogLine::text)
        .containsExactly("failed", "x is slow");
    assertThat(lines.newestFirst().get(0).time()).matches("\\d{4}-\\d\\d-\\d\\dT[0-9:]{8}Z");
  }

  @Test
  void lines_areBoundedInNumberAndLength() {
    for (int i = 0; i < 100; i++) {
      log.warn("x".repeat(10_000) + i);
    }
    assertThat(lines.newestFirst()).hasSize(RecentLines.MOST_LINES);
    assertThat(lines.newestFirst())
        .allSatisfy(line -> assertThat(line.text()).hasSize(RecentLines.LONGEST));
  }

  @Test
  void names_areMadeVisible() {
    log.warn("{}: gone", "a\nb\u001b[2J");
    assertThat(lines.newestFirst().get(0).text()).doesNotContain("\n").doesNotContain("\u001b");
  }
}
