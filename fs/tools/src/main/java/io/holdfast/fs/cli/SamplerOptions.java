package io.holdfast.fs.cli;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.sampler.TorchSampler;
import java.math.BigInteger;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The sampler of a training framework, as a user names it. */
final class SamplerOptions {
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,9})-([0-9]{1,9})");
  private static final int MOST_PASSES = 10_000;

  @Option(
      names = "--sampler",
      paramLabel = "torch",
      description = {
        "Compute the order instead of reading it: what PyTorch's RandomSampler, with a generator of"
            + " that seed, reads of the lines of --list; with --world, its DistributedSampler."
      })
  private @Nullable String sampler;

  @Option(
      names = "--list",
      paramLabel = "FILE",
      description = "The dataset in the order of its indices, a path a line, for --sampler.")
  private @Nullable String list;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "The seed of the generator, or of DistributedSampler. Default: 0.")
  private @Nullable BigInteger seed;

  @Option(
      names = "--epoch",
      paramLabel = "E",
      description = "The pass over the dataset, counted from 0. Default: 0.")
  private @Nullable Integer epoch;

  @Option(
      names = "--epochs",
      paramLabel = "A-B",
      description =
          "The passes from A to B, each read when the one before it has been; at most 24,000,000"
              + " files in all.")
  private @Nullable String epochs;

  @Option(
      names = "--rank",
      paramLabel = "R",
      description = "The rank of the process among several. Default: 0.")
  private @Nullable Integer rank;

  @Option(
      names = "--world",
      paramLabel = "W",
      description =
          "How many processes there are. Nodes that have announced all ranks between them plan"
              + " together what each of them keeps.")
  private @Nullable Integer world;

  @Option(names = "--shuffle", description = "The sampler shuffles. This is the default.")
  private boolean shuffle;

  @Option(names = "--no-shuffle", description = "The sampler does not shuffle.")
  private boolean noShuffle;

  @Option(
      names = "--drop-last",
      description =
          "With --world: leave indices out, rather than repeat some, where they do not"
              + " divide evenly.")
  private boolean dropLast;

  /** Tells whether the order is to be computed. */
  boolean areGiven() {
    if (sampler == null && isAnyGiven()) {
      throw CliException.usage("--sampler is missing: give --sampler torch with its options");
    }
    return sampler != null;
  }

  private boolean isAnyGiven() {
    return list != null
        || seed != null
        || epoch != null
        || epochs != null
        || rank != null
        || world != null
        || shuffle
        || noShuffle
        || dropLast;
  }

  /** Returns the file with the names. */
  String list() {
    if (list == null) {
      throw CliException.usage("--list FILE is missing: give the dataset, a path a line");
    }
    return list;
  }

  /** Tells whether several passes are given. */
  boolean areSeveral() {
    return epochs != null;
  }

  /** Returns the sampler of each pass. */
  List<TorchSampler> passes() {
    if (epochs == null) {
      return List.of(sampler(epoch == null ? 0 : epoch));
    }
    if (epoch != null) {
      throw CliException.usage("--epoch and --epochs exclude each other: give one of them");
    }
    Matcher range = RANGE.matcher(epochs);
    int first = range.matches() ? Integer.parseInt(range.group(1)) : 0;
    int last = range.matches() ? Integer.parseInt(range.group(2)) : -1;
    if (first > last || last - first >= MOST_PASSES) {
      throw CliException.usage(
          "--epochs '%s': give the first and the last of at most %,d passes, such as 0-9"
              .formatted(epochs, MOST_PASSES));
    }
    return IntStream.rangeClosed(first, last).mapToObj(this::sampler).toList();
  }

  private TorchSampler sampler(int pass) {
    if (!"torch".equals(sampler)) {
      throw CliException.usage("--sampler '" + sampler + "' is not known: there is torch");
    }
    if (shuffle && noShuffle) {
      throw CliException.usage("--shuffle and --no-shuffle exclude each other: give one of them");
    }
    if (world == null && (rank != null || dropLast)) {
      throw CliException.usage(
          "--world W is missing: --rank and --drop-last are for several ranks");
    }
    try {
      return new TorchSampler(
          seed == null ? BigInteger.ZERO : seed,
          pass,
          !noShuffle,
          world == null
              ? null
              : new TorchSampler.Replica(rank == null ? 0 : rank, world, dropLast));
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--sampler torch: " + e.getMessage(), e);
    }
  }
}
