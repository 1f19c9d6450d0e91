package io.holdfast.fs.doctor;

import io.holdfast.fs.units.Visible;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;

/** A doctor's report for people and for programs. Stateless. */
public final class DoctorText {
  private static final String INDENT = " ".repeat(20);

  private DoctorText() {}

  /**
   * Writes a report as lines, each with its end.
   *
   * @param report the findings
   * @param painted colours a level's word
   */
  public static String of(List<Diagnosis> report, BiFunction<Severity, String, String> painted) {
    StringBuilder text = new StringBuilder();
    String scope = "";
    for (Diagnosis line : report) {
      if (!line.scope().equals(scope)) {
        scope = line.scope();
        text.append(scope.equals(Doctor.MACHINE) ? scope : "mount " + Visible.of(scope))
            .append('\n');
      }
      Finding finding = line.finding();
      String level = painted.apply(finding.level(), "%-4s".formatted(finding.level()));
      text.append("  %s  %-10s  %s%n".formatted(level, line.probe(), Visible.of(finding.text())));
      if (!finding.fix().isEmpty()) {
        text.append(INDENT).append("fix: ").append(Visible.of(finding.fix())).append('\n');
      }
    }
    return text.append(summary(report)).append('\n').toString();
  }

  private static String summary(List<Diagnosis> report) {
    long failures = count(report, Severity.FAIL);
    long warnings = count(report, Severity.WARN);
    return failures + warnings == 0
        ? "all is well"
        : "FAIL: %d, WARN: %d".formatted(failures, warnings);
  }

  /** Counts the findings of a level. */
  public static long count(List<Diagnosis> report, Severity level) {
    return report.stream().filter(line -> line.finding().level() == level).count();
  }

  /**
   * Returns a report as nested maps: {@code ok}, {@code warn}, {@code fail} and {@code findings}.
   */
  public static Map<String, Object> map(List<Diagnosis> report) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (Severity level : Severity.values()) {
      map.put(level.name().toLowerCase(Locale.ROOT), count(report, level));
    }
    List<Map<String, Object>> findings = new ArrayList<>();
    for (Diagnosis line : report) {
      Map<String, Object> finding = new LinkedHashMap<>();
      finding.put("scope", line.scope());
      finding.put("probe", line.probe());
      finding.put("level", line.finding().level().name());
      finding.put("text", line.finding().text());
      finding.put("fix", line.finding().fix());
      findings.add(finding);
    }
    map.put("findings", findings);
    return map;
  }
}
