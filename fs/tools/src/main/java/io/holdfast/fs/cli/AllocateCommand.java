package io.holdfast.fs.cli;

import io.holdfast.fs.allocate.Allocation;
import io.holdfast.fs.allocate.AllocationJson;
import io.holdfast.fs.allocate.AllocationText;
import io.holdfast.fs.allocate.Allocator;
import io.holdfast.fs.allocate.Objective;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast allocate}: tells how a node's memory is best divided among its mounts. */
@Command(
    name = "allocate",
    sortOptions = false,
    customSynopsis = "holdfast allocate --plan FILE [--for throughput|fairness|makespan] [--json]",
    header = "Propose how mounts divide a node's memory by what they gain.",
    description = {
      "",
      "How fast a job gets its data is a function of the part of the dataset that is in memory. For"
          + " each mount of a plan the command computes which capacity is enough, and proposes one:"
          + " nobody is slower than with the fair share of the budget, and what some do not need"
          + " goes to those whom it makes faster.",
      "",
      "The plan is a JSON file; ALLOCATION.md has its format and an example. Mounts that run are"
          + " not looked at, and nothing is changed: 'holdfast capacity' does that."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast allocate --plan node.json",
      "  holdfast allocate --plan node.json --for makespan",
      "  holdfast allocate --plan node.json --json | jq '.mounts[].proposed_bytes'"
    })
final class AllocateCommand implements Callable<Integer> {
  private final CliContext context;

  @Option(
      names = "--plan",
      paramLabel = "FILE",
      description = "The mounts, and the memory for all of them.")
  private @Nullable String plan;

  @Option(
      names = "--for",
      paramLabel = "throughput|fairness|makespan",
      description = {
        "What memory beyond the fair shares serves: 'throughput', the sum of all speeds;"
            + " 'fairness', that all gain alike over their fair share; 'makespan', that the longest"
            + " epoch is short. Default: throughput."
      })
  private String objective = "throughput";

  @Mixin private final CommandOutput output = new CommandOutput();

  AllocateCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    if (plan == null) {
      throw CliException.usage(
          "--plan FILE is missing: give a file with the mounts; those that run are not looked at");
    }
    Objective wanted = objective();
    Allocation allocation = Allocator.allocate(PlanFile.read(plan), wanted);
    if (output.isJson()) {
      output.json(AllocationJson.of(allocation));
    } else {
      output.text(context.colors().firstLine(AllocationText.of(allocation)));
    }
    return 0;
  }

  private Objective objective() {
    try {
      return Objective.parse(objective);
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--for " + e.getMessage(), e);
    }
  }
}
