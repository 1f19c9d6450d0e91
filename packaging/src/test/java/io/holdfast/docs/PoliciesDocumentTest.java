package io.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What POLICIES.md says is what the simulator gives; else run packaging/docs/make-policies. Figures
 * of {@code tinylfu}, which differ a little from run to run, are not compared.
 */
class PoliciesDocumentTest {
  private static final Path DOCS = Path.of("docs");
  private static final Pattern DESCRIPTION = Pattern.compile("<desc>(.*?)</desc>");

  private static final Pattern TINY_LFU_CURVE = Pattern.compile("tinylfu: [^;]*");

  @TempDir Path temp;

  @Test
  void tables_ofTheDocument_areTheSimulators() throws IOException {
    String document = Files.readString(DOCS.resolve(PoliciesDocument.FILE));
    for (String block : PoliciesDocument.blocks()) {
      assertThat(document).contains("<!-- figures: " + block + " -->\n");
    }
    assertThat(withoutTinyLfu(PoliciesDocument.rendered(document)))
        .isEqualTo(withoutTinyLfu(document));
  }

  @Test
  void plots_ofTheDocument_areTheSimulators() throws IOException {
    String document = Files.readString(DOCS.resolve(PoliciesDocument.FILE));
    for (Map.Entry<String, String> plot : PoliciesDocument.plots().entrySet()) {
      Path drawn = temp.resolve(plot.getKey());
      Simulation.plot(plot.getValue(), drawn);
      assertThat(document).contains("](" + plot.getKey() + ")");
      assertThat(description(DOCS.resolve(plot.getKey()))).isEqualTo(description(drawn));
      assertThat(document).contains("holdfast simulate " + plot.getValue() + " --plot");
    }
  }

  /** Takes the figures below {@code tinylfu} out. */
  private static String withoutTinyLfu(String document) {
    StringBuilder text = new StringBuilder();
    int column = -1;
    for (String line : document.split("\n", -1)) {
      String[] cells = line.split("\\|", -1);
      if (!line.startsWith("|")) {
        column = -1;
      } else if (column < 0) {
        column = Math.max(0, List.of(cells).indexOf(" `tinylfu` "));
      } else if (column > 0 && cells[column].startsWith(" .")) {
        cells[column] = " . ";
      }
      text.append(String.join("|", cells)).append('\n');
    }
    return text.toString();
  }

  /** The figures of a plot; how it is drawn depends on the fonts of the machine. */
  private static String description(Path plot) throws IOException {
    Matcher matcher = DESCRIPTION.matcher(Files.readString(plot));
    assertThat(matcher.find()).isTrue();
    return TINY_LFU_CURVE.matcher(matcher.group(1)).replaceAll("tinylfu");
  }
}
