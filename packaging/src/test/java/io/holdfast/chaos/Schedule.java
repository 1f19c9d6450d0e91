package io.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Which faults come when: the same for the same seed. Immutable. */
record Schedule(List<Planned> faults) {
  private static final int MOST_AT_A_TIME = 2;
  private static final int SHORTEST_PAUSE = 200;
  private static final int LONGEST_PAUSE = 3000;

  /** The pause after a fault: a place has recovered before its next fault. */
  private static final int RECOVERY = 1500;

  Schedule {
    faults = List.copyOf(faults);
  }

  /**
   * One fault.
   *
   * @param beginMillis since the start
   * @param target the node that it is done to, or the reader
   * @param amount how much of it, from 0 to 99: each kind has its own measure
   */
  record Planned(long beginMillis, long forMillis, FaultKind kind, int target, int amount) {
    long endMillis() {
      return beginMillis + forMillis;
    }
  }

  /** How many there are that things can be done to. */
  record Targets(int nodes, int readers) {
    int of(FaultKind.Place place) {
      return switch (place) {
        case NODE, NETWORK, CLOCK -> nodes;
        case READER -> readers;
        case ORIGIN, CONTENT, STATE, MACHINE -> 1;
      };
    }
  }

  /** Faults of these kinds, one or two at a time, all of them over when the time is. */
  static Schedule of(long seed, Duration time, Targets targets, Set<FaultKind> kinds) {
    Random random = new Random(seed);
    List<FaultKind> urn = urn(kinds);
    Map<FaultKind.Place, Long> freeAt = new EnumMap<>(FaultKind.Place.class);
    List<Planned> faults = new ArrayList<>();
    long now = between(random, SHORTEST_PAUSE, LONGEST_PAUSE);
    while (now < time.toMillis()) {
      FaultKind kind = urn.get(random.nextInt(urn.size()));
      Planned fault =
          new Planned(
              now,
              between(random, kind.shortestMillis(), kind.longestMillis()),
              kind,
              random.nextInt(targets.of(kind.place())),
              random.nextInt(100));
      if (fault.endMillis() <= time.toMillis()
          && freeAt.getOrDefault(kind.place(), 0L) <= now
          && atThatTime(faults, now) < MOST_AT_A_TIME) {
        faults.add(fault);
        freeAt.put(kind.place(), fault.endMillis() + RECOVERY);
      }
      now += between(random, SHORTEST_PAUSE, LONGEST_PAUSE);
    }
    return new Schedule(faults);
  }

  private static List<FaultKind> urn(Set<FaultKind> kinds) {
    List<FaultKind> urn = new ArrayList<>();
    for (FaultKind kind : FaultKind.values()) {
      for (int i = 0; kinds.contains(kind) && i < kind.weight(); i++) {
        urn.add(kind);
      }
    }
    return urn;
  }

  private static long atThatTime(List<Planned> faults, long millis) {
    return faults.stream().filter(fault -> fault.endMillis() > millis).count();
  }

  private static int between(Random random, int least, int most) {
    return least + random.nextInt(most - least + 1);
  }
}
