package io.holdfast.fs.cli;

import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.client.TaskClient;
import io.holdfast.fs.client.TaskFigures;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code holdfast capacity}: shows how much may be resident, or changes it. */
@Command(
    name = "capacity",
    sortOptions = false,
    customSynopsis = "holdfast capacity [--json] [MOUNTPOINT|NAME] [SIZE|P%%]",
    header = "Show or change how much stays in memory.",
    description = {
      "",
      "A larger capacity holds at once: what is read next fills it. For a smaller one files make"
          + " way, chosen by the policy, those that are to stay last; it is done when their memory"
          + " is free. It must fit within --memory. It holds until the end of the mount, or"
          + " 'holdfast restart --capacity'; peers learn of it. A mount that has joined the node's"
          + " budget, 'memory' in /etc/holdfast/node.yaml, leaves it."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast capacity",
      "  holdfast capacity 96G",
      "  holdfast capacity /data/imagenet 60%%"
    })
final class CapacityCommand implements Callable<Integer> {
  private static final List<String> RESIDENT =
      List.of("resident_bytes", "resident_items", "kept_bytes", "kept_items");

  private final CliContext context;

  @Parameters(
      arity = "0..*",
      paramLabel = "[MOUNTPOINT|NAME] SIZE|P%",
      description = {
        "Which mount: by default the only one. And how much: 64G, 512M, or a share of the memory.",
        "Default: it is shown."
      })
  private List<String> words = new ArrayList<>();

  @Mixin private final CommandOutput output = new CommandOutput();

  CapacityCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Targets targets = context.targets();
    RunningDaemon daemon;
    String size = null;
    if (words.size() > 2) {
      throw CliException.usage("too many arguments: '" + words.get(2) + "' is not expected");
    } else if (words.size() == 2) {
      daemon = targets.get(words.get(0));
      size = checked(words.get(1));
    } else if (words.isEmpty()) {
      daemon = targets.only();
    } else if (looksLikeSize(words.get(0)) && targets.find(words.get(0)).isEmpty()) {
      size = checked(words.get(0));
      daemon = targets.only();
    } else {
      daemon = targets.get(words.get(0));
    }
    TaskClient client = new TaskClient(context, daemon, output.err());
    Map<String, Object> shown = shown(client.daemon());
    TaskFigures before = new TaskFigures(shown);
    if (size == null) {
      output.show(shown, Stream.of(line(before)));
      return 0;
    }
    Map<String, Object> request = Map.of("begin", "capacity", "size", size);
    client.run("giving up", request, Collections.emptyIterator());
    Map<String, Object> changed = shown(client.daemon());
    TaskFigures after = new TaskFigures(changed);
    for (String figure : RESIDENT) {
      changed.put("given_up_" + figure, Math.max(0, before.number(figure) - after.number(figure)));
    }
    output.show(changed, Stream.of(line(after), givenUp(after)));
    return 0;
  }

  private static boolean looksLikeSize(String word) {
    return word.isEmpty() || word.charAt(0) == '-' || Character.isDigit(word.charAt(0));
  }

  private static String checked(String size) {
    try {
      if (Sizes.parse(size, Long.MAX_VALUE) == 0) {
        throw CliException.usage("a capacity of '" + size + "' must be greater than 0");
      }
    } catch (IllegalArgumentException e) {
      throw CliException.usage(String.valueOf(e.getMessage()), e);
    }
    return size;
  }

  private static Map<String, Object> shown(DaemonClient daemon) {
    Map<String, Object> shown = new LinkedHashMap<>();
    CacheFigures cache = FiguresJson.figures(daemon.stats()).cache();
    shown.put("capacity_bytes", cache.capacityBytes());
    shown.put("resident_bytes", cache.residentBytes());
    shown.put("resident_items", cache.residentItems());
    shown.put("kept_bytes", cache.keptBytes());
    shown.put("kept_items", cache.keptItems());
    return shown;
  }

  /** A smaller capacity takes also what was to stay, where the rest is not enough. */
  private static String givenUp(TaskFigures figures) {
    if (figures.number("given_up_resident_items") == 0) {
      return "";
    }
    long kept = figures.number("given_up_kept_bytes");
    return "given up: %s in %s%s"
        .formatted(
            Human.bytes(figures.number("given_up_resident_bytes")),
            Human.count(figures.number("given_up_resident_items"), "item"),
            kept == 0 ? "" : ", of these %s that were to stay".formatted(Human.bytes(kept)));
  }

  private static String line(TaskFigures figures) {
    return "capacity %s, %s resident in %s, of these %s to stay"
        .formatted(
            Human.bytes(figures.number("capacity_bytes")),
            Human.bytes(figures.number("resident_bytes")),
            Human.count(figures.number("resident_items"), "item"),
            Human.bytes(figures.number("kept_bytes")));
  }
}
