package io.holdfast.fs.doctor;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Whether a store of objects answers at all, under which name, and what its clock says. */
final class StoreProbe implements Probe {
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** Stores refuse requests that are 15 minutes off. */
  private static final Duration WORST = Duration.ofMinutes(5);

  private static final Duration BAD = Duration.ofSeconds(30);

  private final Subject subject;
  private final Asked asked;
  private final Clock clock;

  StoreProbe(Subject subject, Asked asked, Clock clock) {
    this.subject = subject;
    this.asked = asked;
    this.clock = clock;
  }

  @Override
  public String name() {
    return "store";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    if (subject.mount() == null || !subject.mount().source().startsWith("s3://")) {
      return List.of();
    }
    Answers answers = asked.answers();
    String endpoint =
        answers
            .setting("s3-endpoint")
            .or(() -> answers.setting("s3-region").map(of -> "https://s3." + of + ".amazonaws.com"))
            .orElse("");
    if (!endpoint.contains("://")) {
      return List.of(Finding.ok("not asked: its endpoint is known to the daemon only"));
    }
    return List.of(ask(endpoint));
  }

  private Finding ask(String endpoint) throws InterruptedException {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(endpoint))
              .method("HEAD", HttpRequest.BodyPublishers.noBody())
              .build();
      HttpResponse<Void> response =
          HttpClient.newBuilder()
              .connectTimeout(DEADLINE)
              .build()
              .sendAsync(request, HttpResponse.BodyHandlers.discarding())
              .get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      return judge(endpoint, response.headers().firstValue("date").orElse(""));
    } catch (TimeoutException e) {
      return Finding.fail(
          "%s gives no answer in %d s".formatted(endpoint, DEADLINE.toSeconds()),
          "check the name, the network and the store; 'curl -I " + endpoint + "'");
    } catch (ExecutionException | IllegalArgumentException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      return Finding.fail(
          "%s does not answer: %s"
              .formatted(endpoint, cause instanceof IOException ? reason(cause) : cause),
          "check --s3-endpoint, the name and the network; 'curl -I " + endpoint + "'");
    }
  }

  private static String reason(Throwable failure) {
    String message = failure.getMessage();
    return failure.getClass().getSimpleName() + (message == null ? "" : ": " + message);
  }

  private Finding judge(String endpoint, String date) {
    Duration off = Duration.ZERO;
    try {
      if (!date.isEmpty()) {
        Instant theirs = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date));
        off = Duration.between(theirs, clock.instant()).abs();
      }
    } catch (DateTimeException e) {
      return Finding.ok(endpoint + " answers, with a date that cannot be read: " + date);
    }
    String text = "%s answers; clocks differ by %d s".formatted(endpoint, off.toSeconds());
    String mend = "'timedatectl set-ntp true' here, or mend the store's clock";
    if (off.compareTo(WORST) > 0) {
      return Finding.fail(text + ": it refuses requests from 15 minutes on", mend);
    }
    return off.compareTo(BAD) > 0 ? Finding.warn(text, mend) : Finding.ok(text);
  }
}
