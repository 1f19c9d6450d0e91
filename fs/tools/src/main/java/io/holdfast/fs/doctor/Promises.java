package io.holdfast.fs.doctor;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.daemon.LiveChanges;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.units.Human;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The memory that the residents of all mounts of a machine may take together. Each mount knows only
 * its own ceiling. Immutable.
 *
 * @param mounts the mounts whose capacity is known: their daemons answered, or their state tells it
 * @param unknown the number of other mounts: of other users, or with a daemon that does not answer
 */
public record Promises(List<Mount> mounts, int unknown) {
  /** The most that residents of all mounts should take, as a share of the machine's memory. */
  private static final int MOST_PERCENT = 80;

  /** In the status of a process: the pages of files that it has mapped, and that are in memory. */
  private static final String MAPPED = "RssFile";

  private static final Duration DEADLINE = Duration.ofSeconds(1);
  private static final Duration SLACK = Duration.ofSeconds(1);
  private static final int MOST_NAMES = 4;

  /**
   * One mount.
   *
   * @param capacity the bytes that its residents may take
   * @param least the bytes that its residents keep in any case, also those that users have pinned
   * @param joined whether the capacity is a part of the node's budget
   * @param answered whether its daemon has told this, and not its state
   * @param socket of its daemon; null where that is not known
   */
  public record Mount(
      String name,
      long capacity,
      long least,
      boolean joined,
      boolean answered,
      @Nullable Path socket) {
    /** Creates a mount with a capacity of its own. */
    public Mount(String name, long capacity) {
      this(name, capacity, 0, false, false, null);
    }
  }

  /** Copies the list. */
  public Promises {
    mounts = List.copyOf(mounts);
  }

  /** Asks the daemons of some mounts, side by side. */
  public static Promises ask(List<Subject> subjects) throws InterruptedException {
    return ask(subjects, DEADLINE);
  }

  /** Asks the daemons of some mounts, side by side, which have so much time to answer. */
  public static Promises ask(List<Subject> subjects, Duration deadline)
      throws InterruptedException {
    List<FutureTask<Optional<Mount>>> asked = new ArrayList<>();
    for (Subject subject : subjects) {
      FutureTask<Optional<Mount>> task = new FutureTask<>(() -> mount(subject, deadline));
      NamedThreads.start("asks " + subject.name(), task);
      asked.add(task);
    }
    // the way to a socket may lead to a file system of a user's own that does not answer
    long end = System.nanoTime() + deadline.plus(SLACK).toNanos();
    List<Mount> mounts = new ArrayList<>();
    for (FutureTask<Optional<Mount>> task : asked) {
      answer(task, end - System.nanoTime()).ifPresent(mounts::add);
    }
    return new Promises(mounts, subjects.size() - mounts.size());
  }

  private static Optional<Mount> mount(Subject subject, Duration deadline) {
    Path socket = subject.socket();
    boolean dead = subject.pid() == 0 && subject.supervisor() == 0;
    if (dead || socket == null) {
      return Optional.empty();
    }
    try {
      Figures stats = FiguresJson.figures(new ControlClient(socket, deadline).stats());
      CacheFigures cache = stats.cache();
      return Optional.of(
          new Mount(
              subject.name(),
              Math.min(stats.promisedBytes(), most(subject, Procfs.host())),
              Math.max(stats.memory().minBytes(), cache.keptBytes()),
              cache.capacityOfNodeBudget(),
              true,
              socket));
    } catch (FsException e) {
      return silent(subject, socket);
    }
  }

  /**
   * Returns the most memory that a mount can have. The daemon of another user may say any number,
   * so it has no more than the kernel says that its process has mapped of files: its residents are
   * among these.
   */
  static long most(Subject subject, Procfs procfs) {
    return subject.isTrusted()
        ? Long.MAX_VALUE
        : procfs.status(Long.toString(subject.pid())).bytes(MAPPED).orElse(0);
  }

  /** A daemon that does not answer has left its capacity in the state directory. */
  private static Optional<Mount> silent(Subject subject, Path socket) {
    Path state = subject.state();
    OptionalLong capacity = state == null ? OptionalLong.empty() : LiveChanges.capacity(state);
    return capacity.isPresent()
        ? Optional.of(new Mount(subject.name(), capacity.getAsLong(), 0, false, false, socket))
        : Optional.empty();
  }

  private static Optional<Mount> answer(FutureTask<Optional<Mount>> task, long nanos)
      throws InterruptedException {
    try {
      return task.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return Optional.empty();
    }
  }

  /** Returns the same with a mount that is about to be made. */
  public Promises with(String name, long capacity) {
    List<Mount> all = new ArrayList<>(mounts);
    all.add(new Mount(name, capacity));
    return new Promises(all, unknown);
  }

  /** Tells whether several mounts promise more than the machine should give. */
  public boolean isTooMuch(long memory) {
    return mounts.size() > 1 && total() > memory / 100 * MOST_PERCENT;
  }

  /** Tells whether the mounts have more than the node's budget. */
  boolean exceeds(long budget) {
    return total() > budget;
  }

  /**
   * Returns what the mounts have of the node's budget, such as {@code 30 GiB of the node's budget
   * of 40 GiB are promised, of these 20 GiB to mounts that have joined it: a, b}.
   */
  String ofBudget(long budget) {
    List<Mount> joined = mounts.stream().filter(Mount::joined).toList();
    String names =
        joined.stream()
            .limit(MOST_NAMES)
            .map(Mount::name)
            .collect(Collectors.joining(", ", ": ", joined.size() > MOST_NAMES ? ", ..." : ""));
    return "%s of the node's budget of %s are promised, of these %s to mounts that have joined it%s"
        .formatted(
            Human.bytes(total()),
            Human.bytes(budget),
            Human.bytes(new Promises(joined, 0).total()),
            joined.isEmpty() ? "" : names);
  }

  /** Another user's daemon may say any number, so the sum stays at the largest one. */
  private long total() {
    long total = 0;
    for (Mount mount : mounts) {
      long more = Math.max(0, mount.capacity());
      total = more > Long.MAX_VALUE - total ? Long.MAX_VALUE : total + more;
    }
    return total;
  }

  /** Returns the warning for the user who mounts. */
  public String advice(long memory) {
    return text(memory)
        + (isTooMuch(memory)
            ? ": residents make way for each other; fix: a smaller --capacity for each"
            : "");
  }

  /**
   * Returns the warning, such as {@code 2 mounts may keep 28 GiB of the machine's 25 GiB resident:
   * a 14 GiB, b 14 GiB}.
   */
  public String text(long memory) {
    String names =
        mounts.stream()
            .limit(MOST_NAMES)
            .map(mount -> mount.name() + " " + Human.bytes(mount.capacity()))
            .collect(Collectors.joining(", "));
    return "%s may keep %s of the machine's %s resident: %s%s%s"
        .formatted(
            Human.count(mounts.size(), "mount"),
            Human.bytes(total()),
            Human.bytes(memory),
            names,
            mounts.size() > MOST_NAMES ? ", ..." : "",
            unknown == 0
                ? ""
                : "; not counted: %d more, of other users or without an answer".formatted(unknown));
  }
}
