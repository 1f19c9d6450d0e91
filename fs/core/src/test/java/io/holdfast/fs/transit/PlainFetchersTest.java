package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

final class PlainFetchersTest {
  /** As if a reader joined a fetch ahead that pauses: it ran, or was refused, as one ahead. */
  @Test
  void promote_beforeItsTurn_runsAsOneThatAReaderWaitsFor() {
    List<String> ran = new ArrayList<>();
    PlainFetchers fetchers =
        new PlainFetchers(
            Runnable::run,
            task -> {
              throw new RejectedExecutionException("too many");
            });
    FetchTask task = new FetchTask(1, "job", false, () -> ran.add("f"));

    fetchers.promote(task);
    fetchers.execute(task);

    assertThat(ran).containsExactly("f");
  }
}
