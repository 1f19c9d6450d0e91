package io.holdfast.fs.cli;

import io.holdfast.fs.allocate.Allocation;
import io.holdfast.fs.allocate.AllocationJson;
import io.holdfast.fs.allocate.AllocationText;
import io.holdfast.fs.allocate.Allocator;
import io.holdfast.fs.allocate.FoundMount;
import io.holdfast.fs.allocate.NodeAllocation;
import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.allocate.NodeAllocationJson;
import io.holdfast.fs.allocate.NodeAllocationText;
import io.holdfast.fs.allocate.NodeSettings;
import io.holdfast.fs.allocate.Objective;
import io.holdfast.fs.allocate.PlanReader;
import io.holdfast.fs.allocate.node.AllocationNews;
import io.holdfast.fs.allocate.node.AllocationWatch;
import io.holdfast.fs.allocate.node.CapacityChanges;
import io.holdfast.fs.allocate.node.CommonStores;
import io.holdfast.fs.allocate.node.NodeMounts;
import io.holdfast.fs.allocate.node.Reservations;
import io.holdfast.fs.allocate.node.WatchLock;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.JsonFile;
import io.holdfast.fs.settings.request.NodeFile;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast allocate}: divides a node's memory among its mounts by what their jobs gain. */
@Command(
    name = "allocate",
    sortOptions = false,
    customSynopsis = {
      "holdfast allocate [OPTIONS] [--apply|--watch]",
      "       holdfast allocate [OPTIONS] --plan FILE"
    },
    header = "Divide a node's memory among its mounts by what they gain.",
    description = {
      "",
      "How fast a job gets its data is a function of the part of the dataset that is in memory. For"
          + " each mount of this node the command asks the daemon for the figures of its job, as"
          + " 'holdfast analyze' does, computes which capacity is enough, and proposes one: nobody"
          + " is slower than with the fair share of the budget, and what some do not need goes to"
          + " those whom it makes faster. A mount of which nothing can be told is left as it is.",
      "",
      "Nothing is changed without --apply or --watch. /etc/holdfast/node.yaml may have the memory"
          + " for all mounts, of which mounts without a capacity get a share when they begin, and"
          + " floors, ceilings, weights and shared origins of some; ALLOCATION.md has an example. With --plan the mounts come from a JSON file, and those"
          + " that run are not looked at.",
      "",
      "The exit code is 1 where --apply could not set all capacities; what is left is told."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast allocate",
      "  holdfast allocate --budget 400G --for makespan --apply",
      "  holdfast allocate --watch",
      "  holdfast allocate --plan node.json --json | jq '.mounts[].proposed_bytes'"
    })
final class AllocateCommand implements Callable<Integer> {
  private static final JsonFile PLAN =
      new JsonFile("--plan", "plan", "mounts", "budget_bytes and mounts");

  private static final Duration INTERVAL = Duration.ofSeconds(5);

  /** How long back figures count for --watch. */
  private static final Duration WINDOW = Duration.ofSeconds(30);

  private final CliContext context;

  @Option(
      names = "--budget",
      paramLabel = "SIZE|P%",
      description = {
        "Memory for all mounts together: 400G, or a share of the machine's. Default: 'memory' of"
            + " /etc/holdfast/node.yaml, or else what the mounts have now."
      })
  private @Nullable String budget;

  @Option(
      names = "--for",
      paramLabel = "throughput|fairness|makespan",
      description = {
        "What memory beyond the fair shares serves: 'throughput', the sum of all speeds;"
            + " 'fairness', that all gain alike over their fair share; 'makespan', that the longest"
            + " epoch is short. Default: throughput."
      })
  private String objective = "throughput";

  @Option(names = "--apply", description = "Set the capacities once: those that shrink come first.")
  private boolean apply;

  @Option(
      names = "--watch",
      description = {
        "Go on until Ctrl-C: change capacities in steps of a sixteenth of the budget at most, wait"
            + " after each until its effect was measured, and take it back if it made things worse."
            + " Prints a line for each decision."
      })
  private boolean watch;

  @Option(
      names = "--plan",
      paramLabel = "FILE",
      description = "The mounts, and the memory for all of them.")
  private @Nullable String plan;

  @Mixin private final CommandOutput output = new CommandOutput();

  AllocateCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Objective wanted = objective();
    check();
    if (plan != null) {
      planned(plan, wanted);
      return 0;
    }
    OptionalLong given = givenBudget();
    NodeSettings settings = NodeFile.read(context.host());
    if (watch) {
      watch(settings, given, wanted);
      return 0;
    }
    return once(settings, given, wanted);
  }

  private void check() {
    if (plan != null && (budget != null || apply || watch)) {
      throw CliException.usage(
          (budget != null ? "--budget" : apply ? "--apply" : "--watch")
              + " is for mounts that run: leave --plan out");
    }
    if (apply && watch) {
      throw CliException.usage("--apply and --watch: choose one of them");
    }
    if (watch && output.isJson()) {
      throw CliException.usage("--watch prints lines: leave --json out");
    }
  }

  private void planned(String file, Objective wanted) throws IOException {
    Allocation allocation = Allocator.allocate(PLAN.read(file, PlanReader::read), wanted);
    if (output.isJson()) {
      output.json(AllocationJson.of(allocation));
    } else {
      output.text(context.colors().firstLine(AllocationText.of(allocation)));
    }
  }

  /** No mount takes its part of the budget while capacities are set. */
  private int once(NodeSettings settings, OptionalLong given, Objective wanted) throws IOException {
    if (!apply) {
      return look(settings, given, wanted);
    }
    Reservations turn = Reservations.await(context);
    try {
      return look(settings, given, wanted);
    } finally {
      turn.close();
    }
  }

  private int look(NodeSettings settings, OptionalLong given, Objective wanted) throws IOException {
    List<NodeMounts.Look> looks = mounts(settings, given, Duration.ZERO).look();
    long memory = budget(settings, given, looks);
    NodeAllocation node;
    try {
      node = NodeAllocation.of(memory, mounts(looks), wanted);
    } catch (IllegalArgumentException e) {
      throw CliException.couldNot(String.valueOf(e.getMessage()), e);
    }
    if (!output.isJson()) {
      output.text(context.colors().firstLine(NodeAllocationText.of(node)));
      CommonStores.notes(looks, context.host().mounts())
          .forEach(note -> output.text(Visible.of(note) + "\n"));
    }
    List<CapacityChanges.Outcome> outcomes = apply ? apply(node, looks) : List.of();
    if (apply) {
      AllocationNews.tell(
          node,
          looks,
          outcomes.stream()
              .filter(CapacityChanges.Outcome::isDone)
              .map(outcome -> outcome.change().mount())
              .collect(Collectors.toSet()));
    }
    if (output.isJson()) {
      Map<String, @Nullable Object> object = NodeAllocationJson.of(node);
      if (apply) {
        object.put("applied", outcomes.stream().map(AllocateCommand::json).toList());
      }
      output.jsonWithNulls(object);
    }
    return outcomes.stream().allMatch(CapacityChanges.Outcome::isDone) ? 0 : CliException.COULD_NOT;
  }

  private List<CapacityChanges.Outcome> apply(NodeAllocation node, List<NodeMounts.Look> looks) {
    CapacityChanges changes = CapacityChanges.of(context, output.err(), node.budget(), looks);
    List<CapacityChanges.Outcome> outcomes = new ArrayList<>();
    for (Change change : node.changes()) {
      CapacityChanges.Outcome outcome = changes.make(change);
      outcomes.add(outcome);
      if (!outcome.isDone()) {
        output.note(outcome.line());
      } else if (!output.isJson()) {
        output.text(Visible.of(outcome.line()) + "\n");
      }
    }
    if (!output.isJson() && !outcomes.isEmpty()) {
      output.text(
          "%d of %d capacities are set: together the mounts have %s of %s.\n"
              .formatted(
                  outcomes.stream().filter(CapacityChanges.Outcome::isDone).count(),
                  outcomes.size(),
                  Human.bytes(changes.total()),
                  Human.bytes(node.budget())));
    }
    return outcomes;
  }

  private static Map<String, Object> json(CapacityChanges.Outcome outcome) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", outcome.change().mount());
    object.put("from_bytes", outcome.change().from());
    object.put("to_bytes", outcome.change().to());
    object.put("done", outcome.isDone());
    if (!outcome.isDone()) {
      object.put("error", outcome.error());
    }
    return object;
  }

  private void watch(NodeSettings settings, OptionalLong given, Objective wanted)
      throws IOException {
    NodeMounts mounts = mounts(settings, given, WINDOW);
    long memory = budget(settings, given, mounts.look());
    boolean follows = given.isEmpty() && settings.memory().isEmpty();
    WatchLock lock = WatchLock.take(context.host().control());
    try {
      new AllocationWatch(context, mounts, output.out(), output.err(), INTERVAL)
          .run(memory, follows, wanted);
    } finally {
      lock.close();
    }
  }

  /** The memory that root gives is for the mounts of all users; root's own mounts divide it. */
  private NodeMounts mounts(NodeSettings settings, OptionalLong given, Duration window) {
    boolean isSaid = given.isPresent() || settings.memory().isPresent();
    return new NodeMounts(
        context.host(),
        settings,
        window,
        isSaid && context.host().uid() == 0,
        context.answerDeadline());
  }

  private static List<FoundMount> mounts(List<NodeMounts.Look> looks) {
    return looks.stream().map(NodeMounts.Look::mount).toList();
  }

  private long budget(NodeSettings settings, OptionalLong given, List<NodeMounts.Look> looks) {
    if (looks.isEmpty()) {
      throw CliException.couldNot("no Holdfast mount is running: start one with 'holdfast mount'");
    }
    return given.orElseGet(
        () -> settings.memory().orElseGet(() -> NodeAllocation.total(mounts(looks))));
  }

  private OptionalLong givenBudget() {
    if (budget == null) {
      return OptionalLong.empty();
    }
    try {
      long bytes = Sizes.parse(budget, context.host().memory());
      if (bytes > 0) {
        return OptionalLong.of(bytes);
      }
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--budget " + e.getMessage(), e);
    }
    throw CliException.usage("--budget '" + budget + "' must be greater than 0");
  }

  private Objective objective() {
    try {
      return Objective.parse(objective);
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--for " + e.getMessage(), e);
    }
  }
}
