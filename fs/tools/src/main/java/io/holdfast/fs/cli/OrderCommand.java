package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.client.OrderClient;
import io.holdfast.fs.client.PathLines;
import io.holdfast.fs.client.SampledList;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast order}: tells a daemon in which order a job will read, or prints that order. */
@Command(
    name = "order",
    sortOptions = false,
    customSynopsis = {
      "holdfast order [MOUNTPOINT|NAME] --job J FILE|-",
      "holdfast order [MOUNTPOINT|NAME] --job J --sampler torch --list FILE [OPTIONS]",
      "holdfast order [MOUNTPOINT|NAME] --job J --clear"
    },
    header = "Tell in which order a job reads, so that files are fetched ahead.",
    description = {
      "",
      "The daemon follows the job in its order and fetches a few files ahead of it, so that readers"
          + " do not wait for the origin. Only an order that is read again changes which files"
          + " stay in memory. A wrong one costs 4 %% more bytes at most. FILE has a path a line; or the order is computed"
          + " as PyTorch's samplers do. ORDERS.md says which program reads which order.",
      "",
      "The exit code is 0 when the order is taken, in the place of the job's last one, or with"
          + " --then after it."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast order /data/imagenet --job /user.slice/train epoch-7.txt",
      "  holdfast order --job 4711 --sampler torch --seed 7 --epoch 3 --world 8 --rank 2 --list"
          + " train.txt",
      "  holdfast order --job 4711 --sampler torch --seed 7 --epochs 0-9 --list train.txt",
      "  holdfast order --sampler torch --seed 7 --list train.txt --print | head",
      "  holdfast order --job 4711 --clear"
    })
final class OrderCommand implements Callable<Integer> {
  /** The lines that are printed at once. */
  private static final int LINES = 1000;

  private final CliContext context;

  @Parameters(
      arity = "0..2",
      paramLabel = "[MOUNTPOINT|NAME] FILE",
      description =
          "Which mount, by default the only one, and the order, a path a line: below the"
              + " mountpoint, or relative to it; - for the standard input.")
  private List<String> words = new ArrayList<>();

  @Option(
      names = "--job",
      paramLabel = "J",
      description = "The job that reads in this order, as 'holdfast stats --jobs' names it.")
  private String job = "";

  @Option(
      names = "--then",
      description = "The order comes after the job's last one, and not in its place.")
  private boolean then;

  @Mixin private final SamplerOptions sampler = new SamplerOptions();

  @Option(names = "--print", description = "Print the order, a path a line, and announce nothing.")
  private boolean print;

  @Option(names = "--clear", description = "Forget the job's order.")
  private boolean clear;

  @Mixin private final CommandOutput output = new CommandOutput();

  OrderCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    boolean sampled = sampler.areGiven();
    if (print) {
      return printOrder(sampled);
    }
    if (job.isEmpty()) {
      throw CliException.usage("--job J is missing: 'holdfast stats --jobs' names the jobs");
    }
    if (clear) {
      return clear(daemon(words, 0), sampled);
    }
    return sampled ? announceSampled() : announceFile();
  }

  /** Returns the daemon that the first word names, of words with so many others behind it. */
  private RunningDaemon daemon(List<String> all, int others) {
    if (all.size() > others + 1) {
      throw CliException.usage("'" + all.get(others + 1) + "' is too much: see --help");
    }
    Targets targets = context.targets();
    return all.size() == others ? targets.only() : targets.get(all.get(0));
  }

  private int announceFile() throws IOException {
    if (words.isEmpty()) {
      throw CliException.usage("FILE is missing: give the order, a path a line, or --sampler");
    }
    String file = words.get(words.size() - 1);
    RunningDaemon daemon = daemon(words, 1);
    try (PathLines lines = PathLines.open(file)) {
      show(new OrderClient(context, daemon).announce(job, "announced", then, lines.iterator()), 1);
    }
    return 0;
  }

  private int announceSampled() throws IOException {
    RunningDaemon daemon = daemon(words, 0);
    List<TorchSampler> passes = sampler.passes();
    String plan = then ? "" : plan(daemon, passes.get(0));
    Map<String, Object> all = Map.of();
    for (TorchSampler pass : passes) {
      try (SampledList lines = SampledList.open(sampler.list(), pass)) {
        boolean after = then || !all.isEmpty();
        OrderClient client = new OrderClient(context, daemon);
        all =
            sum(
                all,
                !after && plan.equals(OrderClient.OFFERED)
                    ? client.announcePlanned(job, lines)
                    : client.announce(job, "sampler", after, lines));
      } catch (CliException e) {
        if (!all.isEmpty()) {
          output.note("the epochs before %d are announced".formatted(pass.epoch()));
        }
        throw e;
      }
    }
    if (!plan.isEmpty()) {
      all = new LinkedHashMap<>(all);
      all.put("plan", plan);
    }
    show(all, passes.size());
    return 0;
  }

  /** Announces the list to a node that may plan with others; returns what came of it. */
  private String plan(RunningDaemon daemon, TorchSampler first) throws IOException {
    TorchSampler.Replica replica = first.replica();
    if (replica == null || replica.world() < 2) {
      return "";
    }
    TorchSampler list = new TorchSampler(BigInteger.ZERO, 0, false, null);
    try (SampledList lines = SampledList.open(sampler.list(), list)) {
      return new OrderClient(context, daemon).plan(job, first, replica, lines);
    }
  }

  /** Returns what the daemon said of one more pass, with the lines and files of all. */
  private static Map<String, Object> sum(Map<String, Object> all, Map<String, Object> pass) {
    Map<String, Object> sum = new LinkedHashMap<>(all); // perhaps with the first unknown name
    sum.putAll(pass);
    for (String count : List.of("lines", "files", "unknown")) {
      sum.put(count, number(all.get(count)) + number(pass.get(count)));
    }
    return sum;
  }

  private void show(Map<String, Object> order, int passes) throws IOException {
    Object unknown = order.get("unknown");
    Object plan = order.get("plan");
    output.show(
        order,
        Stream.of(
            "order of '%s' taken: %s%s, %s files of the dataset"
                .formatted(
                    job,
                    passes == 1 ? "" : Human.count(passes, "epoch") + ", ",
                    Human.count(number(order.get("lines")), "line"),
                    Human.grouped(number(order.get("files")))),
            number(unknown) == 0
                ? ""
                : "no such files: %s, such as '%s'"
                    .formatted(Human.grouped(number(unknown)), order.get("first_unknown")),
            plan == null || plan.equals(OrderClient.OFFERED)
                ? ""
                : "the nodes do not plan together: " + plan));
  }

  private static long number(@Nullable Object value) {
    return value instanceof Number number ? number.longValue() : 0;
  }

  private int clear(RunningDaemon daemon, boolean sampled) throws IOException {
    if (then) {
      throw CliException.usage("--clear and --then exclude each other: give one of them");
    }
    if (sampled) {
      throw CliException.usage("--clear and --sampler exclude each other: give one of them");
    }
    Map<String, Object> cleared = new OrderClient(context, daemon).clear(job);
    output.show(
        cleared,
        Stream.of(
            Boolean.TRUE.equals(cleared.get("cleared"))
                ? "order of '" + job + "' forgotten"
                : "'" + job + "' has no order"));
    return 0;
  }

  private int printOrder(boolean sampled) throws IOException {
    if (!sampled || clear) {
      throw CliException.usage("--print is for an order that is computed: give --sampler torch");
    }
    if (sampler.areSeveral()) {
      throw CliException.usage("--print is for one pass: give --epoch E and not --epochs");
    }
    try (SampledList lines = SampledList.open(sampler.list(), sampler.passes().get(0))) {
      if (output.isJson()) {
        printJson(lines);
      } else {
        printLines(lines);
      }
    }
    return 0;
  }

  private void printLines(Iterator<String> lines) {
    while (lines.hasNext() && !output.hasFailed()) {
      StringBuilder some = new StringBuilder();
      for (int i = 0; i < LINES && lines.hasNext(); i++) {
        some.append(lines.next()).append('\n');
      }
      output.text(some.toString());
    }
  }

  /** Prints piece by piece, since an order may be larger than the heap. */
  private void printJson(SampledList lines) throws IOException {
    output.text(
        "{\n  \"job\" : %s,\n  \"source\" : \"sampler\",\n  \"length\" : %d,\n  \"paths\" : ["
            .formatted(JSON.std.asString(job), lines.size()));
    String before = "\n    ";
    while (lines.hasNext() && !output.hasFailed()) {
      List<String> some = new ArrayList<>();
      for (int i = 0; i < LINES && lines.hasNext(); i++) {
        some.add(JSON.std.asString(lines.next()));
      }
      output.text(Visible.json(before + String.join(",\n    ", some)));
      before = ",\n    ";
    }
    output.text("\n  ]\n}\n");
  }
}
