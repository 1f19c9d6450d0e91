package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.simulate.Capacity;
import io.holdfast.fs.simulate.DatasetDirectory;
import io.holdfast.fs.simulate.Experiment;
import io.holdfast.fs.simulate.FileList;
import io.holdfast.fs.simulate.FileSizes;
import io.holdfast.fs.simulate.Numbers;
import io.holdfast.fs.simulate.Orders;
import io.holdfast.fs.simulate.PeerPlacement;
import io.holdfast.fs.simulate.Trace;
import io.holdfast.fs.units.Sizes;
import io.holdfast.policy.cluster.CooperativeCache;
import io.holdfast.policy.simulator.AccessOrder;
import io.holdfast.policy.simulator.FetchModel;
import io.holdfast.policy.simulator.Scenario;
import io.holdfast.policy.simulator.Simulator;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the user asks to be simulated. Values are checked when it is made, and files are read when
 * its experiment is asked for. Immutable.
 */
final class SimulateRequest {
  private static final int MOST_FILES = Integer.MAX_VALUE - 8;
  private static final int MOST_EPOCHS = 1_000_000;
  private static final int MOST_NODES = 100_000;
  private static final int MOST_JOBS = 100_000;

  private final @Nullable String directory;
  private final @Nullable String trace;
  private final @Nullable Integer files;
  private final @Nullable FileSizes size;
  private final long itemSize;
  private final Orders.Choice order;
  private final int epochs;
  private final int jobs;
  private final boolean sharedOrder;
  private final long seed;
  private final List<Capacity> capacities;
  private final List<String> policies;
  private final int nodes;
  private final Scenario.Coordination coordination;
  private final @Nullable FetchModel rates;

  /**
   * Reads the options.
   *
   * @throws CliException if one is wrong, or if they do not go together
   */
  SimulateRequest(@Nullable String directory, SimulateOptions options) {
    SimulateOptions.Reads reads = options.reads;
    SimulateOptions.Caches caches = options.caches;
    this.directory = directory;
    trace = reads.trace;
    requireOneInput(reads);
    files = parsed("--files", reads.files, null, text -> Numbers.whole(text, 1, MOST_FILES));
    size = parsed("--size", reads.size, null, FileSizes::parse);
    itemSize = get("--item-size", reads.itemSize, "8M", SimulateRequest::itemSize);
    order = get("--order", reads.order, "shuffle", Orders::parse);
    epochs = get("--epochs", reads.epochs, "4", text -> Numbers.whole(text, 1, MOST_EPOCHS));
    jobs = get("--jobs", reads.jobs, "1", text -> Numbers.whole(text, 1, MOST_JOBS));
    sharedOrder = reads.sharedOrder;
    seed = get("--seed", reads.seed, "1", text -> Numbers.whole(text, 0, Integer.MAX_VALUE));
    capacities =
        get(
            "--capacity",
            caches.capacity,
            "25%,35%,50%,65%",
            text -> words(text).stream().map(Capacity::parse).toList());
    boolean known = Orders.KNOWN.equals(reads.order);
    policies =
        get(
            "--policy",
            caches.policy,
            known ? "minio,belady,cooperative" : "minio,lru,linux",
            text -> Experiment.policies(words(text)));
    nodes = get("--nodes", caches.nodes, "1", text -> Numbers.whole(text, 1, MOST_NODES));
    Scenario.Coordination chosen =
        get("--coordination", caches.coordination, "peers", SimulateRequest::coordination);
    coordination = known ? Scenario.Coordination.KNOWN : chosen;
    requireWhatKnownOrdersNeed(known, chosen);
    rates = rates(options.rates);
  }

  private void requireOneInput(SimulateOptions.Reads reads) {
    if (directory != null && directory.isEmpty()) {
      throw CliException.usage("DIRECTORY is empty: give a directory");
    }
    if (directory != null && reads.files != null) {
      throw CliException.usage("DIRECTORY and --files exclude each other: give one of them");
    }
    if (directory == null && reads.files == null && trace == null) {
      throw CliException.usage(
          "nothing to simulate: give a DIRECTORY, --files with --size, or a --trace");
    }
    if ((reads.files == null) != (reads.size == null)) {
      throw CliException.usage("--files and --size need each other: give both, or neither");
    }
    if (trace != null && (reads.order != null || reads.epochs != null)) {
      throw CliException.usage(
          "a --trace has its own order and epochs: leave --%s out"
              .formatted(reads.order != null ? "order" : "epochs"));
    }
  }

  private void requireWhatKnownOrdersNeed(boolean known, Scenario.Coordination chosen) {
    if (!known) {
      if (policies.contains(Simulator.COOPERATIVE)) {
        throw CliException.usage(
            "--policy cooperative needs nodes that know the orders: give --order known and --nodes");
      }
      return;
    }
    if (nodes == 1) {
      throw CliException.usage("--order known is for several nodes: give --nodes 2 or more");
    }
    if (chosen != Scenario.Coordination.PEERS) {
      throw CliException.usage(
          "--order known is for nodes that are peers: leave --coordination out");
    }
    if (jobs > 1 || sharedOrder) {
      throw CliException.usage(
          "--order known is for one job: leave --%s out"
              .formatted(jobs > 1 ? "jobs" : "shared-order"));
    }
  }

  /**
   * Reads the files, and returns what is to be played.
   *
   * @param note told what the user should know
   * @throws FsException if a trace cannot be read
   * @throws IllegalArgumentException if what is read makes no sense
   */
  Experiment experiment(Consumer<String> note) throws FsException {
    FileList list;
    AccessOrder items;
    int passes = epochs;
    DatasetDirectory tree = directory == null ? null : new DatasetDirectory(Path.of(directory));
    if (trace != null) {
      Trace recorded = trace(Path.of(trace), tree);
      list = recorded.files();
      items = recorded.order();
      passes = recorded.epochs().size();
    } else {
      list = tree != null ? tree.read(itemSize) : invented();
      items = list.whole(order.of(list.files(), epochs, seed));
    }
    if (tree != null) {
      tellLeftOut(tree.leftOut(), note);
    }
    if (nodes > list.dataset().items()) {
      throw new IllegalArgumentException(
          "there are more nodes than items: give --nodes %d or less"
              .formatted(list.dataset().items()));
    }
    if (policies.contains(Simulator.COOPERATIVE)
        && list.dataset().items() > CooperativeCache.MOST_ITEMS) {
      throw new IllegalArgumentException(
          "--policy cooperative plays at most %d items: give less, or a larger --item-size"
              .formatted(CooperativeCache.MOST_ITEMS));
    }
    Scenario scenario =
        Scenario.of(list.dataset(), items, passes, seed)
            .by(jobs, sharedOrder)
            .on(new Scenario.Cluster(nodes, coordination, PeerPlacement.ofEqualNodes(nodes)));
    return new Experiment(
        scenario, policies, capacities.stream().map(each -> each.of(list.dataset())).toList());
  }

  private Trace trace(Path file, @Nullable DatasetDirectory tree) throws FsException {
    if (tree != null) {
      return Trace.ofPaths(file, tree, itemSize);
    }
    return files == null ? Trace.ofSizes(file, itemSize) : Trace.ofNumbers(file, invented());
  }

  private FileList invented() {
    return Objects.requireNonNull(size).files(Objects.requireNonNull(files), itemSize, seed);
  }

  private static void tellLeftOut(List<String> leftOut, Consumer<String> note) {
    if (!leftOut.isEmpty()) {
      note.accept(
          leftOut.size() == 1
              ? "left out '%s', which cannot be read".formatted(leftOut.get(0))
              : "left out %d that cannot be read, '%s' the first"
                  .formatted(leftOut.size(), leftOut.get(0)));
    }
  }

  /** Returns the rates, if times are to be predicted. */
  Optional<FetchModel> rates() {
    return Optional.ofNullable(rates);
  }

  private @Nullable FetchModel rates(SimulateOptions.Rates given) {
    Long origin = rate("--origin-rate", given.origin);
    Long memory = rate("--memory-rate", given.memory);
    Long network = rate("--network-rate", given.network);
    Long demand = rate("--demand", given.demand);
    if (origin == null && memory == null && network == null && demand == null) {
      return null;
    }
    if (origin == null || memory == null || demand == null) {
      throw CliException.usage(
          "--origin-rate, --memory-rate and --demand need each other: give all three");
    }
    boolean peers =
        coordination == Scenario.Coordination.PEERS || coordination == Scenario.Coordination.KNOWN;
    if (network == null && nodes > 1 && peers) {
      throw CliException.usage("--network-rate is needed with several nodes: give it too");
    }
    // Without peers nothing comes over the network, at whatever rate.
    return new FetchModel(origin, memory, network == null ? origin : network, demand);
  }

  private static @Nullable Long rate(String option, @Nullable String text) {
    Long rate = parsed(option, text, null, Sizes::parse);
    if (rate != null && rate == 0) {
      throw CliException.usage(option + " 0 is no rate: give bytes per second, such as 500M");
    }
    return rate;
  }

  private static long itemSize(String text) {
    long size = Sizes.parse(text);
    if (!SettingTable.isItemSize(size)) {
      throw new IllegalArgumentException(
          "'" + text + "' is not possible: choose " + SettingTable.ITEM_SIZES);
    }
    return size;
  }

  private static Scenario.Coordination coordination(String text) {
    return Stream.of(
            Scenario.Coordination.PEERS, Scenario.Coordination.SHARDS, Scenario.Coordination.NONE)
        .filter(value -> value.name().toLowerCase(Locale.ROOT).equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "'" + text + "' is not known: choose one of peers, shards, none"));
  }

  private static List<String> words(String text) {
    return List.of(text.split(",", -1));
  }

  private static <T> T get(
      String option, @Nullable String text, String otherwise, Function<String, T> parser) {
    return Objects.requireNonNull(parsed(option, text, otherwise, parser));
  }

  /** Reads a value, and says in an error which option it belongs to. */
  private static <T> @Nullable T parsed(
      String option,
      @Nullable String text,
      @Nullable String otherwise,
      Function<String, T> parser) {
    String chosen = text == null ? otherwise : text;
    try {
      return chosen == null ? null : parser.apply(chosen);
    } catch (IllegalArgumentException e) {
      throw CliException.usage(option + " " + e.getMessage());
    }
  }
}
