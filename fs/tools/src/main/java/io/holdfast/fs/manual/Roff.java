package io.holdfast.fs.manual;

import java.util.List;

/** Writes one page of the manual in the macros of man(7). For one thread. */
final class Roff {
  private final StringBuilder text = new StringBuilder();

  /**
   * Creates a page.
   *
   * @param name the name of the page
   * @param version the version of the program
   */
  Roff(String name, int section, String version) {
    text.append(
        ".TH \"%s\" \"%d\" \"\" \"%s\" \"\"\n"
            .formatted(escaped(name), section, escaped("Holdfast " + version)));
    // no hyphenation and no stretched lines: names and options stay as one types them
    text.append(".nh\n.ad l\n");
  }

  Roff section(String heading) {
    text.append(".SH ").append(argument(heading)).append('\n');
    return this;
  }

  Roff subsection(String heading) {
    text.append(".SS ").append(argument(heading)).append('\n');
    return this;
  }

  /** Adds the first section, which programs such as whatis(1) read. */
  Roff name(String name, String purpose) {
    section("NAME");
    text.append(escaped(name)).append(" \\- ").append(escaped(purpose)).append('\n');
    return this;
  }

  Roff paragraph(String words) {
    text.append(".PP\n");
    words(words);
    return this;
  }

  /** Adds a term and its meaning. */
  Roff term(String term, String meaning) {
    text.append(".TP\n.B ").append(argument(term)).append('\n');
    words(meaning);
    return this;
  }

  /** Adds lines that stay as they are. */
  Roff verbatim(List<String> lines) {
    text.append(".PP\n.nf\n.RS 2\n");
    lines.forEach(this::words);
    text.append(".RE\n.fi\n");
    return this;
  }

  /** Adds references to other pages, such as {@code holdfast-mount(1)}. */
  Roff seeAlso(List<String> pages) {
    section("SEE ALSO");
    text.append(escaped(String.join(", ", pages))).append('\n');
    return this;
  }

  private void words(String words) {
    for (String line : words.split("\n", -1)) {
      text.append(guarded(escaped(line))).append('\n');
    }
  }

  /** Guards the beginning of a line: an apostrophe or a dot there would be a request. */
  private static String guarded(String line) {
    return line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line;
  }

  private static String argument(String text) {
    return '"' + escaped(text).replace("\"", "\\(dq") + '"';
  }

  /** Escapes a text, so that dashes and apostrophes are those that one types. */
  private static String escaped(String text) {
    return text.replace("\\", "\\e")
        .replace("-", "\\-")
        .replace("'", "\\(aq")
        .replace("~", "\\(ti")
        .replace("^", "\\(ha")
        .replace("`", "\\(ga");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
