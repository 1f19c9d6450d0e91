package io.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Checks that POLICIES.md has the simulator's figures; if not, run packaging/docs/make-policies.
 * Figures of {@code tinylfu} differ a little from run to run, and must be near; all others must be
 * equal.
 */
@Execution(ExecutionMode.CONCURRENT)
class PoliciesDocumentTest {
  private static final Path DOCS = Path.of("docs");
  private static final double NEAR = 0.05;
  private static final Pattern DESCRIPTION = Pattern.compile("<desc>(.*?)</desc>");
  private static final Pattern TINY_LFU_CURVE = Pattern.compile("tinylfu: [^;]*");
  private static final Pattern HIT_RATIO = Pattern.compile("[01]?\\.\\d{3}");

  @TempDir Path temp;

  /** A text without the figures of tinylfu, and these. */
  private record Parts(String text, List<Double> tinyLfu) {}

  @Test
  void tables_ofTheDocument_areTheSimulators() throws IOException {
    String document = Files.readString(DOCS.resolve(PoliciesDocument.FILE));
    for (String block : PoliciesDocument.blocks()) {
      assertThat(document).contains("<!-- figures: " + block + " -->\n");
    }
    assertSame(tables(PoliciesDocument.rendered(document)), tables(document));
  }

  @Test
  void plots_ofTheDocument_areTheSimulators() throws IOException {
    String document = Files.readString(DOCS.resolve(PoliciesDocument.FILE));
    for (Map.Entry<String, String> plot : PoliciesDocument.plots().entrySet()) {
      Path drawn = temp.resolve(plot.getKey());
      Simulation.plot(plot.getValue(), drawn);
      assertThat(document).contains("](" + plot.getKey() + ")");
      assertThat(document).contains("holdfast simulate " + plot.getValue() + " --plot");
      assertSame(curves(drawn), curves(DOCS.resolve(plot.getKey())));
    }
  }

  private static void assertSame(Parts simulated, Parts documented) {
    assertThat(simulated.text()).isEqualTo(documented.text());
    assertThat(simulated.tinyLfu()).hasSameSizeAs(documented.tinyLfu());
    for (int i = 0; i < simulated.tinyLfu().size(); i++) {
      assertThat(simulated.tinyLfu().get(i)).isCloseTo(documented.tinyLfu().get(i), within(NEAR));
    }
  }

  private static Parts tables(String document) {
    List<Double> tinyLfu = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    int column = -1;
    for (String line : document.split("\n", -1)) {
      String[] cells = line.split("\\|", -1);
      if (!line.startsWith("|")) {
        column = -1;
      } else if (column < 0) {
        column = Math.max(0, List.of(cells).indexOf(" `tinylfu` "));
      } else if (column > 0) {
        hitRatios(cells[column], tinyLfu);
        cells[column] = "";
      }
      text.append(String.join("|", cells)).append('\n');
    }
    return new Parts(text.toString(), tinyLfu);
  }

  /** The figures of a plot; how it is drawn depends on the fonts of the machine. */
  private static Parts curves(Path plot) throws IOException {
    Matcher description = DESCRIPTION.matcher(Files.readString(plot));
    assertThat(description.find()).isTrue();
    List<Double> tinyLfu = new ArrayList<>();
    Matcher curve = TINY_LFU_CURVE.matcher(description.group(1));
    String others =
        curve.replaceAll(
            match -> {
              hitRatios(match.group(), tinyLfu);
              return "";
            });
    return new Parts(others, tinyLfu);
  }

  private static void hitRatios(String text, List<Double> into) {
    HIT_RATIO.matcher(text).results().forEach(each -> into.add(Double.valueOf(each.group())));
  }
}
