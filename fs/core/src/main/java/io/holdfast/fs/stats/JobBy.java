package io.holdfast.fs.stats;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What a job is: which processes' figures are added up. Immutable.
 *
 * @param kind how processes are told apart
 * @param variable the variable of the environment whose value names the job; empty for other kinds
 */
public record JobBy(Kind kind, String variable) {
  /** By control group: what schedulers, containers and systemd make of it. */
  public static final JobBy CGROUP = new JobBy(Kind.CGROUP, "");

  private static final String ENV = "env:";
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /** How processes are told apart. */
  public enum Kind {
    /** By control group. */
    CGROUP,
    /** By the command that a shell or the system has started, with all that it has started. */
    TREE,
    /** Each process is a job. */
    PID,
    /** By a variable of their environment. */
    ENV
  }

  /**
   * Parses {@code cgroup}, {@code tree}, {@code pid} or {@code env:NAME}.
   *
   * @throws IllegalArgumentException with what is allowed, where it is none of these
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

  /** Returns what {@link #parse} takes. */
  @Override
  public String toString() {
    return kind == Kind.ENV ? ENV + variable : kind.name().toLowerCase(Locale.ROOT);
  }
}
