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
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Asks HTTP servers for the time, in a bounded time. Thread-safe. */
final class RemoteClock {
  private final Clock clock;
  private final Duration deadline;

  /**
   * Creates a client.
   *
   * @param clock the clock of this machine
   * @param deadline the time for each question
   */
  RemoteClock(Clock clock, Duration deadline) {
    this.clock = clock;
    this.deadline = deadline;
  }

  /**
   * Returns how far a server's clock is from this machine's; nothing if the answer has no time.
   *
   * @throws IOException with the reason, if the server does not answer in time
   */
  Optional<Duration> difference(String url) throws IOException, InterruptedException {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url))
              .method("HEAD", HttpRequest.BodyPublishers.noBody())
              .build();
      HttpResponse<Void> response =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(deadline)
              .build()
              .sendAsync(request, HttpResponse.BodyHandlers.discarding())
              .get(deadline.toMillis(), TimeUnit.MILLISECONDS);
      return response.headers().firstValue("date").map(this::from);
    } catch (TimeoutException e) {
      throw new IOException("no answer in %d s".formatted(deadline.toSeconds()), e);
    } catch (ExecutionException e) {
      throw new IOException(reason(e.getCause()), e);
    } catch (IllegalArgumentException | DateTimeException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private Duration from(String date) {
    Instant theirs = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date));
    return Duration.between(theirs, clock.instant()).abs();
  }

  private static String reason(Throwable failure) {
    String message = failure.getMessage();
    return failure.getClass().getSimpleName() + (message == null ? "" : ": " + message);
  }
}
