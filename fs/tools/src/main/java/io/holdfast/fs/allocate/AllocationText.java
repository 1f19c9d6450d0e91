package io.holdfast.fs.allocate;

import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/** An allocation for people: a table, and one line of what to do. Stateless. */
public final class AllocationText {
  static final List<String> HEADING =
      List.of(
          "mount",
          "dataset",
          "enough",
          "now",
          "fair share",
          "proposed",
          "demand",
          "speed now",
          "at fair share",
          "proposed",
          "bound by",
          "why");

  /** A speed that is less than this part of another is slower, and not as fast but for rounding. */
  private static final double SLOWER = 0.999;

  private AllocationText() {}

  /** Returns lines, each with its end. */
  public static String of(Allocation allocation) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADING);
    for (Allocation.Share share : allocation.mounts()) {
      rows.add(row(share, share.capacities().proposed(), share.explanation().reason()));
    }
    return Columns.aligned(rows) + "\n" + advice(allocation) + "\n";
  }

  /** Returns the cells of a mount that is to have so many bytes. */
  static List<String> row(Allocation.Share share, long proposed, String reason) {
    PlannedMount mount = share.mount();
    return List.of(
        mount.name(),
        Human.bytes(mount.dataset()),
        Human.bytes(share.capacities().sufficient()),
        Human.bytes(mount.capacity().now()),
        Human.bytes(share.capacities().fair()),
        Human.bytes(proposed),
        rate(mount.rates().demand()),
        rate(share.speeds().now()),
        rate(share.speeds().fair()),
        rate(share.speeds().proposed()),
        share.explanation().boundBy().word(),
        reason);
  }

  private static String advice(Allocation allocation) {
    long fair = total(allocation, share -> share.speeds().fair());
    long proposed = total(allocation, share -> share.speeds().proposed());
    StringBuilder line = new StringBuilder();
    if (proposed > fair / SLOWER) {
      line.append(
          String.format(
              Locale.ROOT,
              "Together %s in place of %s with the fair shares (%.2f times): set each with"
                  + " 'holdfast capacity NAME SIZE'.",
              rate(proposed),
              rate(fair),
              (double) proposed / fair));
    } else {
      line.append("The fair shares already give all that this budget can give.");
    }
    long slower =
        allocation.mounts().stream()
            .filter(share -> share.speeds().proposed() < SLOWER * share.speeds().now())
            .count();
    if (slower > 0) {
      line.append(
          " Slower than now, where they have more than their fair share: "
              + Human.count(slower, "mount")
              + ".");
    }
    if (allocation.unallocated() > 0 && allocation.isEnough()) {
      line.append(
          " %s of the budget would make nobody faster: it is left."
              .formatted(Human.bytes(allocation.unallocated())));
    }
    return line.toString();
  }

  private static long total(Allocation allocation, ToLongFunction<Allocation.Share> speed) {
    return allocation.mounts().stream().mapToLong(speed).sum();
  }

  static String rate(long bytes) {
    return bytes == PlanReader.MOST_RATE ? "unknown" : Human.bytes(bytes) + "/s";
  }
}
