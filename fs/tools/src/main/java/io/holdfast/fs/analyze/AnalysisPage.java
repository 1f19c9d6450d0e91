package io.holdfast.fs.analyze;

import io.holdfast.fs.throughput.JobModel;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;

/**
 * A report as one page of HTML that needs nothing else: to send to a colleague. It has no script,
 * and its policy forbids to load anything. Names in it are escaped. Stateless.
 */
public final class AnalysisPage {
  /** Colours of the pictures for text, ground and lines follow the theme. */
  private static final String STYLE =
      """
      :root { color-scheme: light dark; --ink: #1a1a1a; --ground: #ffffff; --line: #d0d0d0; }
      @media (prefers-color-scheme: dark) {
        :root { --ink: #e8e8e8; --ground: #161616; --line: #4a4a4a; }
      }
      body { color: var(--ink); background: var(--ground); margin: 1.5rem auto; max-width: 62rem;
        padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
      h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
      h2 { font-size: 1.1rem; margin-top: 2rem; }
      .advice { border-left: .3rem solid #0072b2; padding-left: 1rem; font-size: 1.1rem; }
      .wide { overflow-x: auto; }
      table { border-collapse: collapse; }
      th, td { text-align: right; padding: .2rem .7rem; border-bottom: 1px solid var(--line);
        white-space: nowrap; font-variant-numeric: tabular-nums; }
      th:first-child, td:first-child { text-align: left; padding-left: 0; }
      svg { width: 100%; max-width: 50rem; height: auto; display: block; }
      svg [fill="rgb(255,255,255)"] { fill: var(--ground); }
      svg [fill="rgb(0,0,0)"] { fill: var(--ink); }
      svg [stroke="rgb(0,0,0)"] { stroke: var(--ink); }
      svg [fill="rgb(229,229,229)"] { fill: var(--line); }
      svg [stroke="rgb(229,229,229)"] { stroke: var(--line); }
      """;

  private AnalysisPage() {}

  /** Returns the page, in UTF-8. */
  public static byte[] of(Analysis analysis) throws IOException {
    String title = escaped(AnalysisText.title(analysis));
    StringBuilder page = new StringBuilder();
    page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append("<meta http-equiv=\"Content-Security-Policy\" content=\"")
        .append("default-src 'none'; style-src 'sha256-")
        .append(digest(STYLE))
        .append("'; base-uri 'none'; form-action 'none'\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .append("<title>" + title + "</title>\n<style>")
        .append(STYLE)
        .append("</style>\n</head>\n<body>\n<main>\n")
        .append("<h1>" + title + "</h1>\n")
        .append("<p class=\"advice\">" + escaped(analysis.advice()) + "</p>\n");
    AnalysisPlot plot = new AnalysisPlot(analysis);
    page.append("<h2>Epochs</h2>\n").append(plot.epochs().element("epochs")).append('\n');
    addTable(page, AnalysisText.EPOCH_HEADING, AnalysisText.epochs(analysis));
    AnalysisText.reasons(analysis).forEach(line -> page.append("<p>" + escaped(line) + "</p>\n"));
    analysis.notes().forEach(note -> page.append("<p>Note: " + escaped(note) + ".</p>\n"));
    if (plot.hasCurve()) {
      page.append("<h2>Memory</h2>\n").append(plot.curve().element("memory")).append('\n');
    }
    analysis.model().ifPresent(model -> addModel(page, analysis, model));
    return page.append("</main>\n</body>\n</html>\n").toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void addModel(StringBuilder page, Analysis analysis, JobModel model) {
    page.append("<h2>What if</h2>\n");
    addTable(page, AnalysisText.WHAT_IF_HEADING, AnalysisText.whatIf(analysis, model));
    page.append("<h2>Rates</h2>\n");
    addTable(page, List.of("of", "rate"), AnalysisText.rates(model.rates()));
  }

  private static void addTable(StringBuilder page, List<String> heading, List<List<String>> rows) {
    page.append("<div class=\"wide\" tabindex=\"0\">\n<table>\n<thead>\n<tr>");
    heading.forEach(cell -> page.append("<th scope=\"col\">" + escaped(cell) + "</th>"));
    page.append("</tr>\n</thead>\n<tbody>\n");
    for (List<String> row : rows) {
      page.append("<tr>");
      row.forEach(cell -> page.append("<td>" + escaped(cell) + "</td>"));
      page.append("</tr>\n");
    }
    page.append("</tbody>\n</table>\n</div>\n");
  }

  private static String escaped(String text) {
    return Visible.of(text)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  private static String digest(String text) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
