package io.holdfast.fs.metrics;

import io.holdfast.fs.web.Site;
import io.holdfast.fs.web.WebAnswer;
import io.holdfast.fs.web.WebRequest;
import java.util.function.Supplier;

/**
 * Answers scrapes ({@code GET /metrics}); {@code GET /} says what there is. Does not ask who the
 * client is: the answers hold names and numbers, and no content of files. Immutable.
 */
public final class ScrapeSite implements Site {
  private final String mount;
  private final Supplier<byte[]> metrics;

  /**
   * Creates the site of a mount.
   *
   * @param mount the mount's name
   * @param metrics returns the answer; called from several threads
   */
  public ScrapeSite(String mount, Supplier<byte[]> metrics) {
    this.mount = mount;
    this.metrics = metrics;
  }

  @Override
  public WebAnswer answer(WebRequest request) {
    return switch (request.path()) {
      case "/metrics" -> WebAnswer.of(200, Exposition.CONTENT_TYPE, metrics.get());
      case "/" ->
          WebAnswer.text(200, "Holdfast, mount " + mount + ": the metrics are at /metrics\n");
      default -> WebAnswer.text(404, "nothing here: the metrics are at /metrics\n");
    };
  }
}
