package io.holdfast.fs.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/**
 * The options of simulate, as the user wrote them; one that was not given is null, or false. What
 * they mean is {@link SimulateRequest}'s.
 */
final class SimulateOptions {
  @ArgGroup(validate = false, order = 1, heading = "%nWhat is read:%n")
  Reads reads = new Reads();

  @ArgGroup(validate = false, order = 2, heading = "%nWhat may be kept, and by whom:%n")
  Caches caches = new Caches();

  @ArgGroup(validate = false, order = 3, heading = "%nHow fast (bytes per second):%n")
  Rates rates = new Rates();

  @ArgGroup(validate = false, order = 4, heading = "%nWhat is shown:%n")
  Output output = new Output();

  /** Which files, in which order. */
  static final class Reads {
    @Option(
        names = "--files",
        paramLabel = "N",
        description = "Instead of DIRECTORY: so many invented files, of a --size.")
    @Nullable String files;

    @Option(
        names = "--size",
        paramLabel = "SIZE",
        description =
            "Their size: 105000, 110K, or lognormal:MEAN[:SIGMA], where SIGMA is 0.5 by default.")
    @Nullable String size;

    @Option(
        names = "--trace",
        paramLabel = "FILE",
        description = {
          "What was read, an access a line; a line '# epoch' begins the next epoch. With DIRECTORY"
              + " its lines are paths relative to it, with --files numbers from 0, alone"
              + " NAME<TAB>BYTES, where BYTES may be left out after a NAME's first line."
        })
    @Nullable String trace;

    @Option(
        names = "--item-size",
        paramLabel = "SIZE",
        description = "Larger files are kept in pieces of this size. Default: 8M.")
    @Nullable String itemSize;

    @Option(
        names = "--order",
        paramLabel = "ORDER",
        description = {
          "'shuffle': a new random order in each epoch; 'sequential': the same order in each;"
              + " 'window[:FILES]': through a shuffle buffer, of 1000 files by default;"
              + " 'skewed[:EXPONENT]': some files more often than others (Zipf, 0.9 by default);"
              + " 'one-pass': each file once in all epochs together; 'known': as 'shuffle', dealt"
              + " out to several --nodes, which know the orders of the coming epochs. Default:"
              + " shuffle."
        })
    @Nullable String order;

    @Option(names = "--epochs", paramLabel = "N", description = "Passes of a job. Default: 4.")
    @Nullable String epochs;

    @Option(
        names = "--jobs",
        paramLabel = "K|FILE",
        description = {
          "Jobs that read at the same time, from the same caches. Default: 1. Or a FILE of jobs as"
              + " JSON, for a whole workload: see ALLOCATION.md."
        })
    @Nullable String jobs;

    @Option(
        names = "--shared-order",
        description = "All jobs read the same file at the same time; else each has its own order.")
    boolean sharedOrder;

    @Option(
        names = "--seed",
        paramLabel = "N",
        description = "Of every random choice; the same seed gives the same figures. Default: 1.")
    @Nullable String seed;
  }

  /** Policies, capacities, nodes. */
  static final class Caches {
    @Option(
        names = "--capacity",
        paramLabel = "SIZE|P%[,...]",
        description = {
          "Memory for the cache on each node: 64G, or a share of the dataset. Default:"
              + " 25%%,35%%,50%%,65%%."
        })
    @Nullable String capacity;

    @Option(
        names = "--policy",
        paramLabel = "NAME[,...]",
        description = {
          "minio, minio-hash, none, lru, fifo, random, tinylfu, linux (the page cache as it is),"
              + " unbounded, belady (knows the future); with --order known also cooperative (nodes"
              + " that know the future place items together). Default: minio,lru,linux; with --order"
              + " known minio,belady,cooperative. With a --jobs FILE ways to divide memory: proportional, greedy, tune, silod, holdfast,"
              + " holdfast-makespan, optimum. Default: all."
        })
    @Nullable String policy;

    @Option(names = "--nodes", paramLabel = "N", description = "Nodes that train. Default: 1.")
    @Nullable String nodes;

    @Option(
        names = "--coordination",
        paramLabel = "peers|shards|none",
        description = {
          "'peers': each epoch is dealt out to the nodes, each item is kept by one of them, which"
              + " is asked before the source; 'shards': dealt out, but each node keeps what it"
              + " reads for itself; 'none': each node reads all, for itself. Default: peers."
        })
    @Nullable String coordination;
  }

  /** What makes times of bytes. */
  static final class Rates {
    @Option(
        names = "--origin-rate",
        paramLabel = "SIZE",
        description = "What the source gives to a node. With it times are predicted.")
    @Nullable String origin;

    @Option(
        names = "--memory-rate",
        paramLabel = "SIZE",
        description = "What a node's memory gives: reading and preparing cached files.")
    @Nullable String memory;

    @Option(
        names = "--network-rate",
        paramLabel = "SIZE",
        description = "What its peers give to a node. Needed with --nodes and peers.")
    @Nullable String network;

    @Option(
        names = "--demand",
        paramLabel = "SIZE",
        description = "What a job takes on a node when it never waits for data.")
    @Nullable String demand;
  }

  /** Where figures go. */
  static final class Output {
    @Option(names = "--json", description = "One JSON object.")
    boolean json;

    @Option(names = "--csv", description = "Comma-separated values, a line for each epoch.")
    boolean csv;

    @Option(
        names = "--plot",
        paramLabel = "FILE",
        description = {
          "Also a picture, .png or .svg, with a line for each policy: hit ratio over capacity; with"
              + " a --jobs FILE the jobs' completion times, and their speed over time."
        })
    @Nullable String plot;
  }
}
