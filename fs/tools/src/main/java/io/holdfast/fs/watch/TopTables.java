package io.holdfast.fs.watch;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.ConvoyFigures;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jline.utils.AttributedString;

/** The tables of jobs, processes, peers, orders and convoys. Stateless. */
final class TopTables {
  private static final List<String> WORK =
      List.of(
          "OPENS/s",
          "MISSES/s",
          "HITS",
          "FETCHED/s",
          "STALL",
          "OPENS",
          "MISSES",
          "FETCHED",
          "STALLED");
  private static final List<Integer> WORK_RANKS = List.of(2, 4, 5, 3, 1, 8, 9, 7, 6);

  private static final String UNKNOWN = Bottleneck.UNKNOWN.word();

  private TopTables() {}

  static ScreenTable jobs(Change change, TopState.Sort sort) {
    ScreenTable table =
        new ScreenTable(
            with(List.of("JOB", "WAITS FOR", "PROCESSES", "EPOCH"), WORK),
            with(List.of(0, 3, 12, 10), WORK_RANKS));
    change.jobs().stream()
        .sorted(sort.order())
        .forEach(
            job ->
                table.add(
                    with(
                        TopScreen.row(
                            Visible.of(job.name()),
                            job.waitsFor().isEmpty() || job.waitsFor().equals(UNKNOWN)
                                ? "-"
                                : Visible.of(job.waitsFor()),
                            Human.count(job.processes()),
                            job.epoch() <= 0 ? "-" : Human.count(job.epoch())),
                        work(job, change))));
    return table;
  }

  static ScreenTable processes(Change change, TopState.Sort sort) {
    ScreenTable table =
        new ScreenTable(
            with(List.of("COMMAND", "PID", "JOB"), WORK), with(List.of(0, 1, 12), WORK_RANKS));
    change.processes().stream()
        .sorted(sort.order())
        .forEach(
            process ->
                table.add(
                    with(
                        TopScreen.row(
                            Visible.of(process.command()),
                            process.processes() == 1
                                ? Long.toString(process.pid())
                                : Human.grouped(process.processes()) + " ended",
                            Visible.of(process.name())),
                        work(process, change))));
    return table;
  }

  private static List<AttributedString> work(Usage usage, Change change) {
    ReadCounts recent = usage.recent();
    ReadCounts total = usage.total();
    double stall = usage.stallShare(change.seconds());
    List<AttributedString> cells =
        new ArrayList<>(
            TopScreen.row(
                FigureFormat.rate(change.rate(recent.opens())),
                FigureFormat.rate(change.rate(recent.misses())),
                FigureFormat.ratio(recent.hitRatio()),
                FigureFormat.bytes(change.rate(recent.fetchedBytes()))));
    cells.add(new AttributedString(FigureFormat.percent(stall), TopScreen.stall(stall)));
    cells.addAll(
        TopScreen.row(
            Human.count(total.opens()),
            Human.count(total.misses()),
            Human.bytes(total.fetchedBytes()),
            FigureFormat.seconds(total.stallSeconds())));
    return cells;
  }

  static ScreenTable peers(Change change) {
    ScreenTable table =
        new ScreenTable(
            Arrays.asList(
                "NODE",
                "STATE",
                "IN/s",
                "OUT/s",
                "RESIDENT",
                "CAPACITY",
                "IN",
                "OUT",
                "ERRORS",
                "P50",
                "P99"),
            List.of(0, 1, 2, 3, 8, 9, 6, 7, 4, 10, 5));
    for (Change.PeerUse peer : change.peers()) {
      NodeFigures row = peer.row();
      long resident = row.residentBytes();
      table.add(
          TopScreen.row(
              Visible.of(row.node()),
              Visible.of(row.state()),
              FigureFormat.bytes(change.rate(peer.bytesIn())),
              FigureFormat.bytes(change.rate(peer.bytesOut())),
              resident < 0 ? "-" : Human.bytes(resident),
              Human.bytes(row.capacityBytes()),
              Human.bytes(row.bytesIn()),
              Human.bytes(row.bytesOut()),
              Human.count(row.errors()),
              micros(row.p50Us()),
              micros(row.p99Us())));
    }
    return table;
  }

  static ScreenTable orders(Change change) {
    ScreenTable table =
        new ScreenTable(
            List.of(
                "JOB",
                "SOURCE",
                "POSITION",
                "FILES",
                "WINDOW",
                "AHEAD",
                "USED",
                "WASTED",
                "SURPRISES"),
            List.of(0, 8, 1, 2, 5, 6, 7, 3, 4));
    for (OrderFigures order : change.now().orders()) {
      table.add(
          TopScreen.row(
              Visible.of(order.job()),
              Visible.of(order.source()),
              Human.count(order.position()),
              Human.count(order.length()),
              Human.bytes(order.windowBytes()),
              Human.count(order.prefetchedItems()),
              Human.count(order.usedItems()),
              Human.bytes(order.wastedBytes()),
              Human.count(order.surprises())));
    }
    return table;
  }

  static ScreenTable convoys(Change change) {
    ScreenTable table =
        new ScreenTable(List.of("JOB", "JOBS", "GAP", "BUDGET", "DELAYED"), List.of(0, 1, 2, 4, 3));
    for (ConvoyFigures convoy : change.now().convoys()) {
      table.add(
          TopScreen.row(
              Visible.of(convoy.job()),
              Human.count(convoy.jobs()),
              Human.bytes(convoy.gapBytes()),
              Human.bytes(convoy.budgetBytes()),
              FigureFormat.seconds(convoy.delayedSeconds())));
    }
    return table;
  }

  private static String micros(long micros) {
    return micros == 0 ? "-" : Human.grouped(micros) + " us";
  }

  private static <T> List<T> with(List<T> first, List<T> more) {
    List<T> all = new ArrayList<>(first);
    all.addAll(more);
    return all;
  }
}
