package io.holdfast.fs.allocate.node;

import io.holdfast.fs.FsException;
import io.holdfast.fs.allocate.Bounds;
import io.holdfast.fs.allocate.FoundMount;
import io.holdfast.fs.allocate.GrowthLimits;
import io.holdfast.fs.allocate.MeasuredMount;
import io.holdfast.fs.allocate.NodeBudget;
import io.holdfast.fs.allocate.NodeSettings;
import io.holdfast.fs.analyze.Analysis;
import io.holdfast.fs.analyze.run.AnalyzedMount;
import io.holdfast.fs.analyze.run.JobSearch;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.LiveChanges;
import io.holdfast.fs.daemon.Version;
import io.holdfast.fs.doctor.Promises;
import io.holdfast.fs.doctor.Subject;
import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.ClusterFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import io.holdfast.fs.units.Human;
import io.holdfast.policy.Policies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The mounts of this node, as an allocation needs them. All daemons are asked at the same time, and
 * each has a deadline, so that one that hangs does not keep the others waiting. Not thread-safe.
 */
public final class NodeMounts {
  private static final String SENSELESS = "its daemon's figures make no sense";

  /** In the place of a name, which no mount can have. */
  private static final String OF_OTHERS = "(other users)";

  /** Threads that ask; a thread does nothing but wait for its daemon. */
  private static final int MOST_AT_ONCE = 256;

  /** An origin that readers wait for so much of their time gives what it can. */
  private static final double ORIGIN_BUSY = 0.2;

  /** Seconds in which a job starts no new processes: between two epochs it may have none. */
  private static final double SURELY_ENDED = 60;

  /** The same while the process lives that may start them: it evaluates, or writes a checkpoint. */
  private static final double LONGEST_PAUSE = 1800;

  private final Host host;
  private final NodeSettings settings;
  private final Duration window;
  private final boolean countsOthers;
  private final Duration deadline;
  private final Map<String, Deque<Past>> past = new HashMap<>();
  private final ConsumerBounds consumers = new ConsumerBounds();
  private final GrowthLimits limits = new GrowthLimits();

  /**
   * A mount as it answered.
   *
   * @param daemon its daemon; null where that is dead
   * @param figures what the daemon told; null where it told nothing
   * @param job the job that reads it; null where none does, or that is not known
   */
  public record Look(
      FoundMount mount,
      @Nullable RunningDaemon daemon,
      @Nullable Figures figures,
      @Nullable Job job) {}

  /** The figures that a daemon told, or why it told none. */
  private record Answer(RunningDaemon daemon, @Nullable Figures figures, String silence) {}

  /** The figures that a daemon told some time ago. */
  private record Past(long nanos, Figures figures) {}

  /**
   * Prepares to look.
   *
   * @param window how long back figures count where mounts are looked at again and again; 0 for all
   *     that daemons know
   * @param countsOthers whether the mounts of other users count, as one mount that is left as it is
   * @param deadline how long the answer of a daemon may take
   */
  public NodeMounts(
      Host host, NodeSettings settings, Duration window, boolean countsOthers, Duration deadline) {
    this.host = host;
    this.settings = settings;
    this.window = window;
    this.countsOthers = countsOthers;
    this.deadline = deadline;
  }

  /**
   * Has a mount get no more than it has for a while, because its daemon has refused more.
   *
   * @param capacity bytes that it has
   */
  void limit(RunningDaemon daemon, long capacity) {
    limits.refused(daemon.name(), daemon.pid(), capacity, seconds());
  }

  private static double seconds() {
    return System.nanoTime() / 1e9;
  }

  /**
   * Returns the bounds of a mount. Its floor covers the files that users have pinned, its {@code
   * --memory-min}, and the least that a mount joins the node's budget with. Pinned files come
   * before its ceiling. While others need the memory that it has, it does not grow.
   */
  private Bounds bounds(RunningDaemon daemon, Figures figures) {
    long has = figures.promisedBytes();
    long limit = limits.most(daemon.name(), daemon.pid(), has, seconds());
    long joined = figures.cache().capacityOfNodeBudget() ? NodeBudget.LEAST : 0;
    long pinned = figures.cache().keptBytes();
    long keeps = Math.max(pinned, figures.memory().minBytes());
    Bounds bounds =
        settings
            .of(daemon.name())
            .within(
                Math.max(joined, keeps),
                figures.memory().isLimited() ? Math.min(limit, has) : limit);
    long most = Math.max(bounds.most(), Math.min(pinned, has));
    return new Bounds(Math.min(bounds.least(), most), most, bounds.weight(), bounds.origin());
  }

  /** Returns a line about a mount that is left as it is. */
  static String leftAsItIs(FoundMount mount) {
    return "%s is left as it is, with %s: %s"
        .formatted(mount.name(), Human.bytes(mount.capacity()), mount.reason());
  }

  /** Asks all daemons of datasets of this user; returns the mounts by name. */
  public List<Look> look() {
    ControlDirectory control = host.control();
    Targets targets = new Targets(host);
    Map<String, Reservations.Reserved> begun = Reservations.look(control);
    List<Look> looks = new ArrayList<>(answers(targets.datasets(control.running())));
    Set<String> known = looks.stream().map(look -> look.mount().name()).collect(Collectors.toSet());
    for (RunningDaemon dead : targets.datasets(control.dead())) {
      if (known.add(dead.name())) {
        looks.add(silent(dead, "its daemon has died", null));
      }
    }
    begun.forEach(
        (name, memory) -> {
          if (known.add(name)) {
            String why = "it does not answer yet";
            looks.add(new Look(FoundMount.left(name, memory.bytes(), why), null, null, null));
          }
        });
    past.keySet().retainAll(known); // names that are never used again would fill the heap
    consumers.retain(known);
    looks.sort(Comparator.comparing(look -> look.mount().name()));
    if (countsOthers && !looks.isEmpty()) {
      ofOthers().ifPresent(mount -> looks.add(new Look(mount, null, null, null)));
    }
    return looks;
  }

  /** Returns the mounts of other users as one; empty where there are none. */
  private Optional<FoundMount> ofOthers() {
    Set<Path> controls =
        host.controlOfOthers().stream().map(ControlDirectory::path).collect(Collectors.toSet());
    List<Subject> subjects =
        ExaminedMachine.of(host).finder().mounts().stream()
            .filter(each -> each.socket() != null && controls.contains(each.socket().getParent()))
            .toList();
    if (subjects.isEmpty()) {
      return Optional.empty();
    }
    try {
      Promises promises = Promises.ask(subjects, deadline);
      // a daemon may say anything
      long bytes =
          promises.mounts().stream()
              .mapToLong(mount -> Math.max(0, Math.min(mount.capacity(), host.memory())))
              .sum();
      String silent =
          promises.unknown() == 0
              ? ""
              : ", %d of them without an answer".formatted(promises.unknown());
      return Optional.of(
          FoundMount.left(
              OF_OTHERS,
              bytes,
              Human.count(subjects.size(), "mount") + " of other users" + silent));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CliException.couldNot("interrupted", e);
    }
  }

  private List<Look> answers(List<RunningDaemon> daemons) {
    if (daemons.isEmpty()) {
      return List.of();
    }
    ExecutorService threads =
        Executors.newFixedThreadPool(
            Math.min(MOST_AT_ONCE, daemons.size()), new NamedThreads("ask-daemon"));
    try {
      List<Future<Answer>> answers =
          daemons.stream().map(daemon -> threads.submit(() -> ask(daemon))).toList();
      List<Look> looks = new ArrayList<>();
      for (Future<Answer> answer : answers) {
        looks.add(look(answer.get()));
      }
      return JobsOfSeveral.left(looks);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CliException.couldNot("interrupted", e);
    } finally {
      threads.shutdownNow();
    }
  }

  private Answer ask(RunningDaemon daemon) {
    try {
      ControlClient client = new ControlClient(daemon.socket(), deadline);
      return new Answer(daemon, FiguresJson.figures(client.stats()), "");
    } catch (FsException e) {
      return new Answer(daemon, null, silence(e));
    } catch (IllegalArgumentException e) {
      return new Answer(daemon, null, SENSELESS);
    }
  }

  private Look look(Answer answer) {
    RunningDaemon daemon = answer.daemon();
    Figures figures = answer.figures();
    if (figures == null) {
      return silent(daemon, answer.silence(), daemon);
    }
    long capacity = figures.promisedBytes();
    if (capacity < 0) {
      return silent(daemon, SENSELESS, daemon);
    }
    try {
      return judged(daemon, figures);
    } catch (ArithmeticException | IllegalArgumentException e) {
      return new Look(FoundMount.left(daemon.name(), capacity, SENSELESS), daemon, null, null);
    }
  }

  /**
   * Judges a mount by its figures.
   *
   * @throws ArithmeticException where they are more than any machine can have
   * @throws IllegalArgumentException where they contradict each other
   */
  private Look judged(RunningDaemon daemon, Figures figures) {
    long capacity = figures.promisedBytes();
    Optional<String> why = whyLeft(figures);
    if (why.isPresent()) {
      return new Look(FoundMount.left(daemon.name(), capacity, why.get()), daemon, figures, null);
    }
    Bounds bounds = bounds(daemon, figures);
    if (figures.cache().policy().equals(Policies.NONE)) {
      FoundMount mount =
          FoundMount.idle(daemon.name(), capacity, bounds, "its --policy none keeps nothing");
      return new Look(mount, daemon, figures, null);
    }
    consumers.look(daemon.name(), figures);
    List<Job> jobs = JobSearch.jobs(figures);
    Job reading = reading(jobs).orElse(null);
    if (reading == null) {
      past.remove(daemon.name());
      FoundMount mount =
          jobs.isEmpty()
              ? FoundMount.left(daemon.name(), capacity, "no job has read from it yet")
              : FoundMount.idle(daemon.name(), capacity, bounds, "its jobs have ended");
      return new Look(mount, daemon, figures, null);
    }
    FoundMount mount =
        lately(daemon, figures, reading, bounds)
            .orElseGet(() -> measured(daemon, figures, reading, bounds));
    return new Look(mount, daemon, figures, reading);
  }

  /**
   * Returns the job that reads a mount: the one that has opened most files and still runs, or else
   * the one whose next processes may yet begin. Processes that the daemon cannot see may be a job
   * of their own: they come before the others while they may still run and have opened more files.
   */
  private static Optional<Job> reading(List<Job> jobs) {
    List<Job> reading = jobs.stream().filter(NodeMounts::mayRead).toList();
    return reading.stream()
        .findFirst()
        .filter(most -> JobSearch.isUnknown(most) && most.endedSeconds().isEmpty())
        .or(
            () ->
                reading.stream()
                    .min(
                        Comparator.comparing(JobSearch::isUnknown)
                            .thenComparing(job -> job.endedSeconds().isPresent())));
  }

  /** Tells whether a job reads, or its next processes may yet begin. */
  static boolean mayRead(Job job) {
    double longest = job.parentAlive() ? LONGEST_PAUSE : SURELY_ENDED;
    return job.endedSeconds().orElse(0) < longest;
  }

  private static String silence(FsException failure) {
    return switch (failure.code()) {
      case ACCESS_DENIED -> "its daemon answers only the user that started it";
      case TIMED_OUT -> "its daemon does not answer";
      case UNAVAILABLE -> "its daemon has just ended";
      default -> "its daemon refused: " + failure.getMessage();
    };
  }

  /** A daemon that does not tell its capacity has left it in its state directory. */
  private Look silent(RunningDaemon of, String why, @Nullable RunningDaemon daemon) {
    long capacity = LiveChanges.capacity(host.control().stateDirectory(of.name())).orElse(0);
    String reason = capacity == 0 ? why + ", and what it has cannot be told" : why;
    return new Look(FoundMount.left(of.name(), capacity, reason), daemon, null, null);
  }

  private static Optional<String> whyLeft(Figures figures) {
    if (!figures.version().equals(Version.VERSION)) {
      return Optional.of(
          "its daemon has version %s, and this is %s: 'holdfast restart' brings it to this one"
              .formatted(figures.version(), Version.VERSION));
    }
    if (!figures.opens().counted()) {
      return Optional.of("its opens are not counted, see --count-opens");
    }
    if (figures.cluster().map(ClusterFigures::nodes).orElse(1L) > 1) {
      return Optional.of("it shares its memory with peers");
    }
    return Optional.empty();
  }

  private FoundMount measured(RunningDaemon daemon, Figures figures, Job job, Bounds bounds) {
    List<Observation> epochs = telling(job.epochs());
    boolean first = !epochs.isEmpty() && epochs.get(0).epoch().epoch() == 1;
    Runs runs =
        new Runs(
            epochs,
            first,
            false,
            consumers.of(daemon.name(), job, epochs),
            coldOfOthers(figures, job, epochs));
    return MeasuredMount.of(figures, analysis(daemon, figures, job, runs), epochs, bounds);
  }

  private static Analysis analysis(RunningDaemon daemon, Figures figures, Job job, Runs runs) {
    return Analysis.of(
        AnalyzedMount.subject(
            daemon.mountpoint(), figures, job.job(), runs.epochs(), OptionalDouble.empty()),
        runs,
        List.of());
  }

  /**
   * Returns what the last seconds tell of a mount, which is more about an origin that has just
   * become slower than what whole epochs do; empty where they tell nothing.
   */
  private Optional<FoundMount> lately(
      RunningDaemon daemon, Figures figures, Job job, Bounds bounds) {
    if (window.isZero()) {
      return Optional.empty();
    }
    long now = System.nanoTime();
    Deque<Past> looks = past.computeIfAbsent(daemon.name(), name -> new ArrayDeque<>());
    while (looks.size() > 1 && now - looks.getFirst().nanos() > window.toNanos()) {
      looks.removeFirst();
    }
    looks.removeIf(look -> !figures.isOfDaemonOf(look.figures()));
    Past before = looks.peekFirst();
    looks.addLast(new Past(now, figures));
    if (before == null || JobSearch.jobs(before.figures()).stream().noneMatch(isSame(job))) {
      return Optional.empty();
    }
    double seconds = (now - before.nanos()) / 1e9;
    List<Observation> epochs = telling(JobSearch.epochsSince(before.figures(), job, seconds));
    List<Observation> all = telling(job.epochs());
    Optional<Observation> cold = coldOfOthers(figures, job, all).or(() -> waitsMost(all));
    Runs runs =
        new Runs(
            epochs,
            false,
            true,
            consumers.of(daemon.name(), job, all),
            cold.filter(x -> isIdle(epochs)));
    return Optional.of(MeasuredMount.of(figures, analysis(daemon, figures, job, runs), all, bounds))
        .filter(mount -> mount.measured().isPresent());
  }

  /** Leaves out epochs that tell nothing, where others do. */
  private static List<Observation> telling(List<Epoch> epochs) {
    List<Observation> all =
        epochs.stream().filter(epoch -> epoch.opens() > 0).map(Observation::of).toList();
    List<Observation> telling =
        all.stream().filter(each -> each.finding().verdict() != Bottleneck.UNKNOWN).toList();
    return telling.isEmpty() ? all : telling;
  }

  private static Predicate<Job> isSame(Job job) {
    return other -> other.job().equals(job.job());
  }

  /**
   * The epoch that waited most for the origin tells how fast that is where later ones hardly do.
   */
  private static Optional<Observation> waitsMost(List<Observation> epochs) {
    return epochs.stream()
        .filter(Observation::isMeasured)
        .max(Comparator.comparingDouble(NodeMounts::waiting));
  }

  /**
   * Where no epoch of a job tells how fast the origin is, the one of another job at the mount that
   * waited most for it does.
   */
  private static Optional<Observation> coldOfOthers(
      Figures figures, Job job, List<Observation> epochs) {
    if (epochs.stream().anyMatch(Observation::usesOriginHard)) {
      return Optional.empty();
    }
    return waitsMost(
        JobSearch.jobs(figures).stream()
            .filter(isSame(job).negate())
            .flatMap(other -> telling(other.epochs()).stream())
            .filter(Observation::usesOriginHard)
            .toList());
  }

  private static boolean isIdle(List<Observation> epochs) {
    return epochs.stream().mapToDouble(NodeMounts::waiting).max().orElse(0) < ORIGIN_BUSY;
  }

  private static double waiting(Observation seen) {
    return seen.shares().map(Split::fetchOrigin).orElse(0.0);
  }
}
