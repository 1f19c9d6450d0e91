package io.holdfast.fs.manual;

import java.util.List;

/** Writes one page of the manual in the macros of man(7). For one thread. */
final class Roff {
  private final StringBuilder text = new StringBuilder();

  /**
   * Begins a page.
   *
   * @param name of the page
   * @param version of the program
   */
  Roff(String name, int section, String version) {
    text.append(
        ".TH \"%s\" \"%d\" \"\" \"%s\" \"\"\n"
            .formatted(escaped(name), section, escaped("Holdfast " + version)));
    // No hyphenation and no stretched lines: names and options stay as they are typed.
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

  /** The first section, which programs such as whatis(1) read. */
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

  /** A term, and what it means. */
  Roff term(String term, String meaning) {
    text.append(".TP\n.B ").append(argument(term)).append('\n');
    words(meaning);
    return this;
  }

  /** Lines that stay as they are. */
  Roff verbatim(List<String> lines) {
    text.append(".PP\n.nf\n.RS 2\n");
    lines.forEach(this::words);
    text.append(".RE\n.fi\n");
    return this;
  }

  /** Other pages, such as {@code holdfast-mount(1)}. */
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

  /** An apostrophe or a dot at the beginning of a line would be a request. */
  private static String guarded(String line) {
    return line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line;
  }

  private static String argument(String text) {
    return '"' + escaped(text).replace("\"", "\\(dq") + '"';
  }

  /** Dashes are those that one types, apostrophes too. */
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
