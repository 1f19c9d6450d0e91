package io.holdfast.fs.doctor;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Asks a daemon once, on a thread of its own, for all probes of its mount. Thread-safe. */
public final class Asked {
  private final CompletableFuture<Answers> answers = new CompletableFuture<>();

  private Asked() {}

  /**
   * Begins to ask.
   *
   * @param pause between the first and the second figures
   */
  public static Asked begin(Path socket, Duration pause) {
    Asked asked = new Asked();
    Thread thread =
        new Thread(
            () -> {
              try {
                asked.answers.complete(Answers.ask(socket, pause));
              } catch (InterruptedException | RuntimeException e) {
                asked.answers.completeExceptionally(e);
              }
            },
            "asks " + socket.getFileName());
    thread.setDaemon(true);
    thread.start();
    return asked;
  }

  /** Has answers that are there already. */
  static Asked of(Answers answers) {
    Asked asked = new Asked();
    asked.answers.complete(answers);
    return asked;
  }

  /** Waits for the answers; bounded as the questions are. */
  public Answers answers() throws InterruptedException {
    try {
      return answers.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
