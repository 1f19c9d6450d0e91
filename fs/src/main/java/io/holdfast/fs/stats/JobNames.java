package io.holdfast.fs.stats;

import io.holdfast.fs.stats.Processes.ProcessInfo;
import io.holdfast.fs.units.Visible;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names the job that a process belongs to. Stateless.
 *
 * <p>By control group it is the group's path, without what schedulers make below a job: of Slurm's
 * the job without step and task, of Kubernetes's the pod without the container. By tree it is the
 * command that a shell which leads a session, or the system, has started: all that a training
 * script starts belongs to it, and two scripts of one terminal are two jobs.
 */
final class JobNames {
  /** Of processes of which nothing is known: gone before they were asked for, or hidden. */
  static final String UNKNOWN = "unknown";

  /** The row of all jobs, or processes, that are not told apart; no job has this name. */
  static final String OTHERS = "(others)";

  /** Longest name, in UTF-16 units; the end of a longer one is replaced by a hash of it. */
  static final int LONGEST = 128;

  /** Of processes without the variable that names jobs. */
  static final String NONE = "none";

  private static final int INIT = 1;
  private static final int DEEPEST_TREE = 64;
  private static final Set<String> SHELLS =
      Set.of("sh", "ash", "bash", "csh", "dash", "fish", "ksh", "tcsh", "zsh");

  /** Those whose groups are made per job, where not all are in one hierarchy. */
  private static final List<String> CONTROLLERS = List.of("memory", "pids", "name=systemd");

  private static final Pattern JOB_ABOVE_ITS_PARTS =
      Pattern.compile(".*?/(job_[0-9]+|([^/]*-)?pod[0-9a-f_-]{32,}(\\.slice)?)(?=/|$)");

  private final JobBy by;
  private final Processes processes;

  JobNames(JobBy by, Processes processes) {
    this.by = by;
    this.processes = processes;
  }

  /** Returns the job of a process, in a bounded number of visible letters. */
  String jobOf(ProcessInfo process) {
    return bounded(nameOf(process));
  }

  /** Names that differ only behind the bound get different ends. */
  static String bounded(String name) {
    String shown = Visible.of(name.substring(0, Math.min(LONGEST, name.length())));
    if (name.length() > LONGEST || shown.length() > LONGEST) {
      String end = "~" + HexFormat.of().toHexDigits(name.hashCode());
      return shown.substring(0, LONGEST - end.length()) + end;
    }
    return shown.equals(OTHERS) ? OTHERS + "~" : shown;
  }

  private String nameOf(ProcessInfo process) {
    return switch (by.kind()) {
      case CGROUP -> cgroup(processes.cgroups(process.pid()));
      case TREE -> label(top(process));
      case PID -> label(process);
      case ENV -> {
        String value = processes.variable(process.pid(), by.variable());
        yield value == null || value.isEmpty() ? NONE : value;
      }
    };
  }

  private static String label(ProcessInfo process) {
    return process.command() + "-" + process.pid();
  }

  /** Returns the path in the unified hierarchy, or else in that of a controller. */
  static String cgroup(List<String> lines) {
    String path = path(lines, "");
    for (String controller : CONTROLLERS) {
      if (path == null || path.equals("/")) {
        String other = path(lines, controller);
        path = other == null ? path : other;
      }
    }
    if (path == null) {
      return UNKNOWN;
    }
    Matcher job = JOB_ABOVE_ITS_PARTS.matcher(path);
    return job.lookingAt() ? job.group() : path;
  }

  /** A line is {@code number:controller,controller:path}. */
  private static @Nullable String path(List<String> lines, String controller) {
    for (String line : lines) {
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && List.of(fields[1].split(",", -1)).contains(controller)) {
        return fields[2];
      }
    }
    return null;
  }

  private ProcessInfo top(ProcessInfo process) {
    ProcessInfo top = process;
    for (int depth = 0; depth < DEEPEST_TREE && top.parent() > INIT; depth++) {
      ProcessInfo parent = processes.process(top.parent());
      if (parent == null || isShellOfUser(parent)) {
        return top;
      }
      top = parent;
    }
    return top;
  }

  private static boolean isShellOfUser(ProcessInfo process) {
    String command = process.command();
    return process.isSessionLeader()
        && SHELLS.contains(command.startsWith("-") ? command.substring(1) : command);
  }
}
