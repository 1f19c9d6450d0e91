package io.holdfast.fs.stats;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Which processes are one job, so that their figures are added up. Immutable.
 *
 * @param kind how processes are told apart
 * @param variable the environment variable whose value names the job; empty for other kinds
 */
public record JobBy(Kind kind, String variable) {
  /** By control group, as schedulers, containers and systemd make them. */
  public static final JobBy CGROUP = new JobBy(Kind.CGROUP, "");

  private static final String ENV = "env:";
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /** How processes are told apart. */
  public enum Kind {
    /** By control group. */
    CGROUP,
    /**
     * By the command that a shell or the system has started: the job has all processes that this
     * command has started.
     */
    TREE,
    /** Each process is a job. */
    PID,
    /** By an environment variable. */
    ENV
  }

  /**
   * Parses {@code cgroup}, {@code tree}, {@code pid} or {@code env:NAME}.
   *
   * @throws IllegalArgumentException with the allowed values, if it is none of these
   */
  public static JobBy parse(String text) {
    if (text.startsWith(ENV) && VARIABLE.matcher(text.substring(ENV.length())).matches()) {
      return new JobBy(Kind.ENV, text.substring(ENV.length()));
    }
    for (Kind kind : Kind.values()) {
      if (kind != Kind.ENV && text.equals(kind.name().toLowerCase(Locale.ROOT))) {
        return new JobBy(kind, "");
      }
    }
    throw new IllegalArgumentException(
        "'"
            + text
            + "' is not known: choose one of cgroup, tree, pid, env:NAME (such as"
            + " env:SLURM_JOB_ID)");
  }

  /** Returns the text that {@link #parse} takes. */
  @Override
  public String toString() {
    return kind == Kind.ENV ? ENV + variable : kind.name().toLowerCase(Locale.ROOT);
  }
}
