package io.holdfast.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** METRICS.md has the metrics that are declared; else run packaging/docs/make-metrics. */
class MetricsDocumentTest {
  private static final Path DOCUMENT = Path.of("docs").resolve(MetricsDocument.FILE);

  @Test
  void document_hasTheMetricsThatAreDeclared() throws IOException {
    String document = Files.readString(DOCUMENT);
    assertThat(document).contains("<!-- metrics -->\n").contains("<!-- end -->");
    assertThat(document).isEqualTo(MetricsDocument.rendered(document));
  }
}
