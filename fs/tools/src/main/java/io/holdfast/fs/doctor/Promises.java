package io.holdfast.fs.doctor;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.units.Human;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;

/**
 * The memory that the residents of all mounts of a machine may take together. Each mount knows only
 * its own ceiling. Immutable.
 *
 * @param mounts the mounts whose daemons answered
 * @param unknown the number of other mounts: of other users, or with a daemon that does not answer
 */
public record Promises(List<Mount> mounts, int unknown) {
  /** The most that residents of all mounts should take, as a share of the machine's memory. */
  private static final int MOST_PERCENT = 80;

  private static final Duration DEADLINE = Duration.ofSeconds(1);
  private static final int MOST_NAMES = 4;

  /** One mount, with the bytes that its residents may take. */
  public record Mount(String name, long capacity) {}

  /** Copies the list. */
  public Promises {
    mounts = List.copyOf(mounts);
  }

  /** Asks the daemons of some mounts, side by side. */
  public static Promises ask(List<Subject> subjects) throws InterruptedException {
    List<FutureTask<OptionalLong>> asked = new ArrayList<>();
    for (Subject subject : subjects) {
      FutureTask<OptionalLong> task = new FutureTask<>(() -> capacity(subject));
      NamedThreads.start("asks " + subject.name(), task);
      asked.add(task);
    }
    List<Mount> mounts = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      String name = subjects.get(i).name();
      answer(asked.get(i)).ifPresent(capacity -> mounts.add(new Mount(name, capacity)));
    }
    return new Promises(mounts, subjects.size() - mounts.size());
  }

  private static OptionalLong capacity(Subject subject) throws FsException {
    Path socket = subject.socket();
    if (subject.pid() == 0 || socket == null) {
      return OptionalLong.empty();
    }
    Figures stats = FiguresJson.figures(new ControlClient(socket, DEADLINE).stats());
    return OptionalLong.of(stats.cache().capacityBytes());
  }

  private static OptionalLong answer(FutureTask<OptionalLong> task) throws InterruptedException {
    try {
      return task.get();
    } catch (ExecutionException e) {
      return OptionalLong.empty();
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

  private long total() {
    return mounts.stream().mapToLong(Mount::capacity).sum();
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
