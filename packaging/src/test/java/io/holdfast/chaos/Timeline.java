package io.holdfast.chaos;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The faults with their times, in milliseconds since 1970, and so the symptoms that they may have
 * caused. Thread-safe.
 */
final class Timeline {
  /** Versions are believed for two seconds, and stores that fail are left alone for some. */
  private static final long AFTERMATH_MILLIS = 10_000;

  /** How long a node believes old names after the store answers again. */
  private static final long BELIEVED_MILLIS = 2_000;

  static final int ANY_NODE = -1;

  private final List<Episode> episodes = new ArrayList<>();

  /** A fault from its beginning to its end, which may be to come. */
  static final class Episode {
    private final FaultKind kind;
    private final int target;
    private final long begin;
    private volatile long end = Long.MAX_VALUE;

    private Episode(FaultKind kind, int target, long begin) {
      this.kind = kind;
      this.target = target;
      this.begin = begin;
    }

    FaultKind kind() {
      return kind;
    }

    /** It is over, and made good. */
    void end(long now) {
      end = now;
    }

    private boolean isOf(int node) {
      return node == ANY_NODE || !kind.isOfOneNode() || target == node;
    }

    private boolean meets(long from, long to, long aftermath) {
      return begin <= to && (end == Long.MAX_VALUE || end + aftermath >= from);
    }
  }

  synchronized Episode begin(FaultKind kind, int target, long now) {
    Episode episode = new Episode(kind, target, now);
    episodes.add(episode);
    return episode;
  }

  /**
   * Returns the latest fault that may have caused a symptom on a node within a time. While the
   * origin fails, a node believes a name however old it is, so the file may have changed at any
   * time before.
   */
  synchronized Optional<FaultKind> cause(Symptom symptom, int node, long from, long to) {
    Optional<FaultKind> cause =
        latest(
            each ->
                each.kind.mayShowAs(symptom)
                    && each.isOf(node)
                    && each.meets(from, to, AFTERMATH_MILLIS));
    return cause.isEmpty() && symptom == Symptom.STALE && isOriginFailing(from, to)
        ? latest(each -> each.kind == FaultKind.CONTENT_CHANGED && each.begin <= to)
        : cause;
  }

  private boolean isOriginFailing(long from, long to) {
    return wasAny(
        kind -> kind.place() == FaultKind.Place.ORIGIN, ANY_NODE, from, to, BELIEVED_MILLIS);
  }

  /** Whether something of a kind went on, at a node, within a time or shortly before. */
  synchronized boolean wasAny(
      Predicate<FaultKind> kinds, int node, long from, long to, long after) {
    return latest(each -> kinds.test(each.kind) && each.isOf(node) && each.meets(from, to, after))
        .isPresent();
  }

  private Optional<FaultKind> latest(Predicate<Episode> wanted) {
    return episodes.stream().filter(wanted).reduce((a, b) -> b).map(Episode::kind);
  }

  /** How many there were of each kind. */
  synchronized Map<FaultKind, Integer> counts() {
    Map<FaultKind, Integer> counts = new EnumMap<>(FaultKind.class);
    episodes.forEach(each -> counts.merge(each.kind, 1, Integer::sum));
    return counts;
  }
}
