package io.holdfast.fs.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.web.WebAnswer;
import io.holdfast.fs.web.WebRequest;
import org.junit.jupiter.api.Test;

/** Tests of {@link ScrapeSite}. */
final class ScrapeSiteTest {
  private final ScrapeSite site = new ScrapeSite("data", () -> "a 1\n".getBytes(UTF_8));

  @Test
  void metrics_areAnsweredAsPrometheusWantsThem() {
    WebAnswer answer = ask("/metrics");
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.headers())
        .containsEntry("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    assertThat(answer.body()).asString(UTF_8).isEqualTo("a 1\n");
  }

  @Test
  void otherPaths_areToldWhatThereIs() {
    assertThat(ask("/").body()).asString(UTF_8).contains("data").contains("/metrics");
    assertThat(ask("/metrics/x").status()).isEqualTo(404);
    assertThat(ask("").status()).isEqualTo(404);
  }

  private WebAnswer ask(String path) {
    return site.answer(new WebRequest(path, name -> null));
  }
}
