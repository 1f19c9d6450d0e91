package io.holdfast.monitoring;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which metrics and labels a query asks for. A tokenizer: it tells names of metrics from functions,
 * keywords and labels, by where they stand; it does not check types. Immutable.
 *
 * @param metrics the names of the metrics
 * @param labels the labels by which they are selected, joined and grouped
 */
record PromQl(Set<String> metrics, Set<String> labels) {
  private static final Pattern TOKEN =
      Pattern.compile(
          "\\s+|(?<string>\"(?:[^\"\\\\]|\\\\.)*\")|(?<range>\\[[^\\]]*])"
              + "|(?<number>\\d+(?:\\.\\d+)?(?:[smhdwy]\\b|e[+-]?\\d+)?)"
              + "|(?<name>[A-Za-z_:][A-Za-z0-9_:]*)|(?<sign>==|!=|<=|>=|=~|!~|[-+*/%^(){},=<>])");

  /** Behind these comes a list of labels. */
  private static final Set<String> GROUPING =
      Set.of("by", "without", "on", "ignoring", "group_left", "group_right");

  private static final Set<String> KEYWORDS = Set.of("and", "or", "unless", "bool", "offset");

  private static final Set<String> FUNCTIONS =
      Set.of(
          "sum",
          "max",
          "min",
          "avg",
          "count",
          "topk",
          "rate",
          "increase",
          "delta",
          "changes",
          "histogram_quantile",
          "clamp_min",
          "clamp_max",
          "absent",
          "label_replace",
          "max_over_time",
          "min_over_time",
          "avg_over_time",
          "time",
          "label_values");

  private static final Map<String, String> CLOSES = Map.of("{", "}", "(", ")");

  /** Reads a query; an error where something in it is unknown. */
  static PromQl of(String query) {
    List<String> tokens = tokens(query);
    Set<String> metrics = new TreeSet<>();
    Set<String> labels = new TreeSet<>();
    for (int i = 0; i < tokens.size(); i++) {
      String token = tokens.get(i);
      String next = i + 1 < tokens.size() ? tokens.get(i + 1) : "";
      if (token.equals("{")) {
        i = list(tokens, i, labels);
      } else if (GROUPING.contains(token)) {
        i = next.equals("(") ? list(tokens, i + 1, labels) : i;
      } else if (Character.isLetter(token.charAt(0)) && !KEYWORDS.contains(token)) {
        boolean grouped = FUNCTIONS.contains(token) && GROUPING.contains(next);
        if (!next.equals("(") && !grouped) {
          metrics.add(token);
        } else if (!FUNCTIONS.contains(token)) {
          throw new AssertionError("no function '" + token + "' in: " + query);
        }
      }
    }
    return new PromQl(metrics, labels);
  }

  /** Takes the names in brackets that are followed by a sign; returns where they close. */
  private static int list(List<String> tokens, int open, Set<String> labels) {
    String close = CLOSES.get(tokens.get(open));
    int at = open + 1;
    for (; at < tokens.size() && !tokens.get(at).equals(close); at++) {
      if (Character.isLetter(tokens.get(at).charAt(0))) {
        labels.add(tokens.get(at));
      }
    }
    if (at >= tokens.size()) {
      throw new AssertionError("not closed: " + tokens);
    }
    return at;
  }

  private static List<String> tokens(String query) {
    List<String> tokens = new ArrayList<>();
    Matcher token = TOKEN.matcher(query);
    int at = 0;
    int depth = 0;
    for (; at < query.length() && token.find(at) && token.start() == at; at = token.end()) {
      String text = token.group();
      depth += text.equals("(") ? 1 : text.equals(")") ? -1 : 0;
      if (!text.isBlank()) {
        tokens.add(text);
      }
    }
    if (at != query.length() || depth != 0) {
      throw new AssertionError("not understood from " + at + " on: " + query);
    }
    return tokens;
  }
}
