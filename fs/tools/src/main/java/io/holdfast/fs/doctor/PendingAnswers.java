package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.NamedThreads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Asks a daemon once, on a thread of its own, for all probes of its mount. Thread-safe. */
public final class PendingAnswers {
  private final CompletableFuture<Answers> answers = new CompletableFuture<>();

  private PendingAnswers() {}

  /**
   * Starts to ask.
   *
   * @param pause between the first and the second figures
   */
  public static PendingAnswers begin(Path socket, Duration pause) {
    PendingAnswers pending = new PendingAnswers();
    NamedThreads.start(
        "asks " + socket.getFileName(),
        () -> {
          try {
            pending.answers.complete(Answers.ask(socket, pause));
          } catch (InterruptedException | RuntimeException e) {
            pending.answers.completeExceptionally(e);
          }
        });
    return pending;
  }

  /** Returns answers that are there already. */
  static PendingAnswers of(Answers answers) {
    PendingAnswers pending = new PendingAnswers();
    pending.answers.complete(answers);
    return pending;
  }

  /** Waits for the answers; bounded because each question is. */
  public Answers answers() throws InterruptedException {
    try {
      return answers.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
