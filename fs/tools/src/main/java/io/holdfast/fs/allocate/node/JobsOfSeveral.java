package io.holdfast.fs.allocate.node;

import io.holdfast.fs.allocate.FoundMount;
import io.holdfast.fs.allocate.node.NodeMounts.Look;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.figures.ProcessFigures;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that read from several mounts. Each daemon takes the time in which its readers wait at
 * another mount for time in which nobody needs what they have read. So the rates of such a job are
 * not known. Stateless.
 */
final class JobsOfSeveral {
  /** A job that waits elsewhere for less of its readers' time can be judged. */
  private static final double NOTABLE = 0.1;

  private JobsOfSeveral() {}

  /** Returns the same mounts; those whose job also waits at another one are left as they are. */
  static List<Look> left(List<Look> looks) {
    List<Look> all = new ArrayList<>();
    for (Look look : looks) {
      List<String> others =
          looks.stream()
              .filter(other -> !other.mount().name().equals(look.mount().name()))
              .filter(other -> waits(look, other.figures()))
              .map(other -> "'" + other.mount().name() + "'")
              .toList();
      all.add(others.isEmpty() ? look : left(look, String.join(", ", others)));
    }
    return all;
  }

  private static Look left(Look look, String others) {
    FoundMount mount = look.mount();
    return new Look(
        FoundMount.left(
            mount.name(),
            mount.capacity(),
            "its job also waits for files of %s: what it waits for here cannot be told"
                .formatted(others)),
        look.daemon(),
        look.figures(),
        look.job());
  }

  private static boolean waits(Look look, @Nullable Figures elsewhere) {
    Job job = look.job();
    Figures figures = look.figures();
    if (job == null || figures == null || elsewhere == null || look.mount().measured().isEmpty()) {
      return false;
    }
    Set<Long> processes =
        figures.processes().stream()
            .filter(each -> !each.isSum() && each.job().equals(job.job()))
            .map(ProcessFigures::pid)
            .collect(Collectors.toSet());
    double waited =
        elsewhere.processes().stream()
            .filter(each -> processes.contains(each.pid()))
            .mapToDouble(ProcessFigures::stallSeconds)
            .sum();
    double lived = job.splitSeconds().map(Split::sum).orElse(0.0);
    return lived > 0 && waited > NOTABLE * lived;
  }
}
