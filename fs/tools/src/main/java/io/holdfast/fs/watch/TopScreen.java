package io.holdfast.fs.watch;

import io.holdfast.fs.figures.AllocationFigures;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.DatasetFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;
import org.jspecify.annotations.Nullable;

/**
 * The screen of {@code holdfast top}. The lines depend only on the figures, the size and the user's
 * choices. Stateless.
 */
public final class TopScreen {
  private static final int TEXT_WIDTH = 100;
  private static final int LARGEST_BAR = 40;
  private static final int LARGEST_LABEL = 10;
  private static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;
  private static final AttributedStyle BOLD = PLAIN.bold();
  private static final AttributedStyle BAD = PLAIN.bold().foreground(AttributedStyle.RED);
  private static final AttributedStyle FAIR = PLAIN.foreground(AttributedStyle.YELLOW);
  private static final AttributedStyle GOOD = PLAIN.foreground(AttributedStyle.GREEN);

  private static final List<String> HELP =
      List.of(
          "s o m b   sort by seconds stalled, opens, misses, bytes fetched",
          "p         show jobs, processes, peers, orders or convoys",
          "space     pause, and go on",
          "+ -       look less or more often",
          "q         quit",
          "",
          "STALL     how much of the time the average active process was blocked on a fetch",
          "stalled readers: how many were, on average",
          "memory    items that needed no fetch; their bytes are a guess from the mean file",
          "",
          "any key goes back");

  private TopScreen() {}

  /**
   * The content of the screen.
   *
   * @param change the last change; null before the first answer
   * @param state the user's choices
   * @param trouble why there are no current figures, or an empty text
   */
  public record Content(@Nullable Change change, TopState state, String trouble) {}

  /**
   * Returns the lines for a screen of that size.
   *
   * @return at most {@code height} lines, none wider than {@code width}
   */
  public static List<AttributedString> lines(Content content, int width, int height) {
    List<AttributedString> lines = new ArrayList<>();
    Change change = content.change();
    if (!content.trouble().isEmpty()) {
      lines.add(new AttributedString(Visible.of(content.trouble()), BAD));
    }
    if (change == null) {
      lines.add(new AttributedString(content.trouble().isEmpty() ? "asking the daemon ..." : ""));
    } else {
      lines.addAll(head(change, content.state(), width));
      lines.add(AttributedString.EMPTY);
      if (content.state().help()) {
        HELP.forEach(line -> lines.add(new AttributedString(line)));
      } else {
        lines.addAll(tiers(change).lines(width, Integer.MAX_VALUE));
        lines.add(AttributedString.EMPTY);
        lines.addAll(table(change, content.state(), width, height - lines.size()));
      }
    }
    return lines.stream()
        .limit(Math.max(0, height))
        .map(line -> ScreenTable.firstOf(line, width))
        .toList();
  }

  /** Returns everything as plain text, with all tables that have rows. */
  public static String text(Change change, TopState state) {
    List<AttributedString> lines = new ArrayList<>(head(change, state, TEXT_WIDTH));
    lines.add(AttributedString.EMPTY);
    lines.addAll(tiers(change).lines(Integer.MAX_VALUE, Integer.MAX_VALUE));
    for (TopState.Table table : TopState.Table.values()) {
      List<AttributedString> rows =
          table(change, state.with(table), Integer.MAX_VALUE, Integer.MAX_VALUE);
      if (rows.size() > 1) {
        lines.add(AttributedString.EMPTY);
        lines.addAll(rows);
      }
    }
    StringBuilder text = new StringBuilder();
    lines.forEach(line -> text.append(line.toString().stripTrailing()).append('\n'));
    return text.toString();
  }

  private static List<AttributedString> head(Change change, TopState state, int width) {
    Figures now = change.now();
    CacheFigures cache = now.cache();
    DatasetFigures dataset = now.dataset();
    List<AttributedString> lines = new ArrayList<>();
    lines.add(
        new AttributedStringBuilder()
            .append(Visible.of(now.name()), BOLD)
            .append(" at " + Visible.of(now.mountpoint()))
            .append(", up " + Human.seconds(now.uptimeSeconds()))
            .append(timing(change, state), state.paused() ? FAIR : PLAIN)
            .toAttributedString());
    lines.add(
        label("dataset")
            .append(Human.bytes(dataset.bytes()) + " in ")
            .append(Human.count(dataset.files(), "file"))
            .append(dataset.scanned() ? "" : " so far")
            .append(", policy " + cache.policy())
            .append(", planned hit ratio " + planned(dataset, cache))
            .toAttributedString());
    lines.add(resident(cache, width));
    now.allocation().ifPresent(told -> lines.add(allocation(told)));
    lines.add(
        label("now")
            .append("hit ratio ")
            .append(FigureFormat.ratio(change.hitRatio()), BOLD)
            .append("   opens " + opens(change))
            .append("   peers " + FigureFormat.bytes(change.rate(change.peerBytes())) + "/s")
            .append("   origin " + FigureFormat.bytes(change.rate(change.originBytes())) + "/s")
            .toAttributedString());
    lines.add(
        label("stalled")
            .append(FigureFormat.percent(change.stallShare()), stall(change.stallShare()))
            .append(
                " of the time, "
                    + FigureFormat.rate(change.stalledReaders())
                    + " readers   errors ")
            .append(Human.count(change.errors()), change.errors() > 0 ? BAD : PLAIN)
            .toAttributedString());
    return lines;
  }

  private static String planned(DatasetFigures dataset, CacheFigures cache) {
    return dataset.files() == 0 ? "-" : Human.ratio(cache.plannedHitRatio());
  }

  private static String timing(Change change, TopState state) {
    if (state.paused()) {
      return ", paused";
    }
    return (change.isSinceMount()
            ? ", all since the mount"
            : ", last " + FigureFormat.seconds(change.seconds()))
        + ", by "
        + state.sort().word();
  }

  private static String opens(Change change) {
    return change.countsOpens()
        ? FigureFormat.rate(change.rate(change.opens())) + "/s"
        : "not counted";
  }

  private static AttributedString resident(CacheFigures cache, int width) {
    long resident = cache.residentBytes();
    long capacity = cache.capacityBytes();
    double share = Change.share((double) resident, (double) capacity);
    String part = cache.capacityOfNodeBudget() ? ", of the node's budget" : "";
    int bar = Math.max(0, Math.min(LARGEST_BAR, width - 50 - part.length()));
    int full = (int) Math.round(bar * share);
    return label("resident")
        .append(bar == 0 ? "" : "[")
        .append("#".repeat(full), GOOD)
        .append(bar == 0 ? "" : "-".repeat(bar - full) + "] ")
        .append(Human.bytes(resident) + " of " + Human.bytes(capacity))
        .append(" (" + FigureFormat.percent(share) + ")")
        .append(part)
        .toAttributedString();
  }

  private static AttributedString allocation(AllocationFigures told) {
    AttributedStringBuilder line =
        label("budget").append(Human.bytes(told.proposedBytes()) + " proposed");
    told.fairShareBytes().ifPresent(share -> line.append(", fair share " + Human.bytes(share)));
    return line.append(", of " + Human.bytes(told.budgetBytes()) + " for all mounts")
        .toAttributedString();
  }

  private static AttributedStringBuilder label(String text) {
    return new AttributedStringBuilder()
        .append(text)
        .append(" ".repeat(LARGEST_LABEL - text.length()));
  }

  private static ScreenTable tiers(Change change) {
    ScreenTable table =
        new ScreenTable(List.of("TIER", "ITEMS/s", "BYTES/s", "SHARE"), List.of(0, 1, 2, 3));
    for (Tier tier : Tier.of(change)) {
      table.add(
          row(
              tier.name(),
              Double.isNaN(tier.items()) ? "-" : FigureFormat.rate(change.rate(tier.items())),
              Double.isNaN(tier.bytes())
                  ? "-"
                  : (tier.guessed() ? "~" : "") + FigureFormat.bytes(change.rate(tier.bytes())),
              FigureFormat.percent(tier.share())));
    }
    return table;
  }

  private static List<AttributedString> table(
      Change change, TopState state, int width, int height) {
    return switch (state.table()) {
      case JOBS -> TopTables.jobs(change, state.sort()).lines(width, height);
      case PROCESSES -> TopTables.processes(change, state.sort()).lines(width, height);
      case PEERS -> TopTables.peers(change).lines(width, height);
      case ORDERS -> TopTables.orders(change).lines(width, height);
      case CONVOYS -> TopTables.convoys(change).lines(width, height);
    };
  }

  /** Returns the colour of a share of time that was lost. */
  static AttributedStyle stall(double share) {
    return switch (Change.level(share)) {
      case POOR -> BAD;
      case FAIR -> FAIR;
      case GOOD -> GOOD;
    };
  }

  /** Makes plain cells. */
  static List<AttributedString> row(String... cells) {
    List<AttributedString> row = new ArrayList<>();
    for (String cell : cells) {
      row.add(new AttributedString(cell));
    }
    return row;
  }
}
