package io.holdfast.fs.doctor;

import io.holdfast.fs.units.Human;
import java.io.IOException;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Looks for the last error in the log of a mount's daemon. */
final class LogProbe implements Probe {
  private static final Duration DEADLINE = Duration.ofSeconds(2);
  private static final int TAIL = 256 << 10;
  private static final int LONGEST_LINE = 200;
  private static final Duration RECENT = Duration.ofHours(1);

  /** An error as a line of text, or as an object of JSON. */
  private static final Pattern ERROR =
      Pattern.compile(
          "^(\\S+) +ERROR .*|^\\{.*\"level\" ?: ?\"ERROR\".*", Pattern.CASE_INSENSITIVE);

  private static final Pattern TIME =
      Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)");

  private static final Pattern MILLIS = Pattern.compile("\"timestamp\" ?: ?(\\d{13})\\b");

  private final LogFile log;
  private final Clock clock;

  LogProbe(LogFile log, Clock clock) {
    this.log = log;
    this.clock = clock;
  }

  @Override
  public String name() {
    return "log";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    try {
      return List.of(judge(log.tail(TAIL, DEADLINE)));
    } catch (IOException e) {
      return List.of(
          Finding.warn(
              "it cannot be read: " + e.getMessage(),
              "see --log-file of 'holdfast config'; of a mount in the foreground it is in the"
                  + " journal"));
    }
  }

  private Finding judge(String text) {
    Optional<String> last =
        text.lines().filter(line -> ERROR.matcher(line).matches()).reduce((a, b) -> b);
    if (last.isEmpty()) {
      return Finding.ok("no error lately in " + log.path());
    }
    String line = last.get().substring(0, Math.min(LONGEST_LINE, last.get().length()));
    Optional<Duration> ago = time(last.get()).map(at -> Duration.between(at, clock.instant()));
    String when = ago.map(age -> Human.seconds(age.toSeconds()) + " ago").orElse("lately");
    boolean recent = ago.filter(age -> age.compareTo(RECENT) > 0).isEmpty();
    String said = "last error %s: %s".formatted(when, line);
    return recent ? Finding.warn(said, "look into " + log.path()) : Finding.ok(said);
  }

  private static Optional<Instant> time(String line) {
    Matcher millis = MILLIS.matcher(line);
    if (millis.find()) {
      return Optional.of(Instant.ofEpochMilli(Long.parseLong(millis.group(1))));
    }
    Matcher time = TIME.matcher(line);
    try {
      return time.find()
          ? Optional.of(OffsetDateTime.parse(time.group()).toInstant())
          : Optional.empty();
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }
}
