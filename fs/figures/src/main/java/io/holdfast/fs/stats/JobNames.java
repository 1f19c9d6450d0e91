package io.holdfast.fs.stats;

import io.holdfast.fs.linux.Cgroups;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.linux.Procfs.ProcessStat;
import io.holdfast.fs.units.Visible;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names the job that a process belongs to. Keeps no names; thread-safe.
 *
 * <p>By control group, the name is the group's path, without the groups that schedulers make below
 * a job: for Slurm the job without step and task, for Kubernetes the pod without the container. By
 * tree, the name is the command that the system, or a shell that leads a session, has started. So
 * all processes that a training script starts belong to it, and two scripts of one terminal are two
 * jobs.
 */
final class JobNames {
  private static final Logger log = LoggerFactory.getLogger(JobNames.class);

  /**
   * The job of processes of which nothing is known: they had ended before they were looked up, or
   * are hidden.
   */
  static final String UNKNOWN = "unknown";

  /** The row of all jobs, or processes, that have no row of their own; no job has this name. */
  static final String OTHERS = "(others)";

  /** The longest name, in UTF-16 units. A longer name ends with a hash of it instead. */
  static final int LONGEST = 128;

  /** The job of processes without the variable that names jobs. */
  static final String NONE = "none";

  private static final int INIT = 1;
  private static final int DEEPEST_TREE = 64;
  private static final Set<String> SHELLS =
      Set.of("sh", "ash", "bash", "csh", "dash", "fish", "ksh", "tcsh", "zsh");

  /** Controllers that have a group for each job, if there are several hierarchies. */
  private static final List<String> CONTROLLERS = List.of("memory", "pids", "name=systemd");

  private static final Pattern JOB_ABOVE_ITS_PARTS =
      Pattern.compile(".*?/(job_[0-9]+|([^/]*-)?pod[0-9a-f_-]{32,}(\\.slice)?)(?=/|$)");

  /**
   * How long a caller waits for an environment. The kernel shows it only while nobody changes the
   * process's mappings, and a thread that changes them may wait for a page of the mount, and so for
   * this thread.
   */
  private static final int ENVIRONMENT_MILLIS = 100;

  private static final int ENVIRONMENT_THREADS = 4;

  /** The most environments that may wait to be read: as many as there are processes with a row. */
  private static final int MOST_WAITING = 4096;

  private static final int IDLE_SECONDS = 10;

  private final JobBy by;
  private final Procfs procfs;
  private final Cgroups cgroups;
  private final AtomicBoolean hasWarned = new AtomicBoolean();
  private final ThreadPoolExecutor environments =
      new ThreadPoolExecutor(
          ENVIRONMENT_THREADS,
          ENVIRONMENT_THREADS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(MOST_WAITING),
          new NamedThreads("environment"));

  JobNames(JobBy by, Procfs procfs) {
    this.by = by;
    this.procfs = procfs;
    this.cgroups = new Cgroups(procfs);
    environments.allowCoreThreadTimeOut(true);
  }

  /**
   * Returns the job of a process, in a bounded number of visible characters. It is completed on
   * return, unless the kernel does not show the process's environment for a moment: then it is
   * completed once the kernel does, on another thread.
   */
  CompletableFuture<String> jobOf(ProcessStat process) {
    return by.kind() == JobBy.Kind.ENV
        ? variable(process.pid())
            .handle((value, none) -> value == null || value.isEmpty() ? NONE : bounded(value))
        : CompletableFuture.completedFuture(bounded(nameOf(process)));
  }

  /** Shortens a name. Names that differ only behind the bound get different ends. */
  static String bounded(String name) {
    String shown = Visible.of(name.substring(0, Math.min(LONGEST, name.length())));
    if (name.length() > LONGEST || shown.length() > LONGEST) {
      String end = "~" + HexFormat.of().toHexDigits(name.hashCode());
      return shown.substring(0, LONGEST - end.length()) + end;
    }
    return shown.equals(OTHERS) ? OTHERS + "~" : shown;
  }

  private String nameOf(ProcessStat process) {
    return switch (by.kind()) {
      case CGROUP -> cgroup(cgroups.memberships(Integer.toString(process.pid())));
      case TREE -> label(top(process));
      case PID -> label(process);
      case ENV -> throw new IllegalStateException("only its environment tells");
    };
  }

  private static String label(ProcessStat process) {
    return process.command() + "-" + process.pid();
  }

  /**
   * Returns the variable that names jobs; empty if it is not there. Waits a moment for it, unless
   * other environments are waited for already.
   */
  private CompletableFuture<String> variable(int pid) {
    CompletableFuture<String> value;
    try {
      value =
          CompletableFuture.supplyAsync(
              () -> procfs.variable(pid, by.variable()).orElseGet(() -> hidden(pid)), environments);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.completedFuture("");
    }
    if (environments.getQueue().isEmpty()) {
      await(value);
    }
    return value;
  }

  /** Returns no value, and says so once if that is because the kernel lets nobody see it. */
  private String hidden(int pid) {
    if (!hasWarned.get() && procfs.hidesEnvironment(pid) && hasWarned.compareAndSet(false, true)) {
      log.warn(
          "the environment of process {} may not be read, so its job is '{}' with --job-by {}; fix: give the daemon CAP_SYS_PTRACE, or mount with another --job-by",
          pid,
          NONE,
          by);
    }
    return "";
  }

  private static void await(CompletableFuture<String> value) {
    try {
      String unused = value.get(ENVIRONMENT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      return; // it tells later, or nothing
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the path in the unified hierarchy, or else in that of a controller. */
  static String cgroup(List<Cgroups.Membership> groups) {
    String path = Cgroups.path(groups, Cgroups.UNIFIED).orElse(null);
    for (String controller : CONTROLLERS) {
      if (path == null || path.equals("/")) {
        path = Cgroups.path(groups, controller).orElse(path);
      }
    }
    if (path == null) {
      return UNKNOWN;
    }
    Matcher job = JOB_ABOVE_ITS_PARTS.matcher(path);
    return job.lookingAt() ? job.group() : path;
  }

  private ProcessStat top(ProcessStat process) {
    ProcessStat top = process;
    for (int depth = 0; depth < DEEPEST_TREE; depth++) {
      ProcessStat parent = parentOf(top).orElse(null);
      if (parent == null) {
        return top;
      }
      top = parent;
    }
    return top;
  }

  /**
   * Returns the process that has started another. The system, and a shell that leads a session,
   * start job after job, and are none.
   */
  Optional<ProcessStat> parentOf(ProcessStat process) {
    return process.parent() > INIT
        ? procfs.process(process.parent()).filter(parent -> !isShellOfUser(parent))
        : Optional.empty();
  }

  private static boolean isShellOfUser(ProcessStat process) {
    String command = process.command();
    return process.isSessionLeader()
        && SHELLS.contains(command.startsWith("-") ? command.substring(1) : command);
  }
}
