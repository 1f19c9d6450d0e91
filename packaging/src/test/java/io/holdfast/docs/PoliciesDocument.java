package io.holdfast.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The figures of POLICIES.md: what stands between its marks is made here, by the command that is
 * shown with it. {@link #main} writes them, a test compares them.
 */
final class PoliciesDocument {
  static final String FILE = "POLICIES.md";

  /** Small enough to be quick; the figures are ratios, which more items would not change. */
  private static final String BASE = "--files 4000 --size 100000 --epochs 12";

  private static final List<Integer> PERCENTS = List.of(25, 35, 50, 65, 80);
  private static final String CAPACITIES = " --capacity 25%,35%,50%,65%,80%";
  private static final Pattern BLOCK =
      Pattern.compile("(<!-- figures: ([a-z-]+) -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  private static final Map<String, Supplier<String>> BLOCKS =
      Map.of(
          "shuffled", PoliciesDocument::shuffled,
          "one-server", PoliciesDocument::oneServer,
          "nodes", PoliciesDocument::nodes,
          "known", PoliciesDocument::known,
          "two-servers", PoliciesDocument::twoServers,
          "jobs", PoliciesDocument::jobs,
          "orders", PoliciesDocument::orders);

  private PoliciesDocument() {}

  /**
   * Writes the figures and the plots again.
   *
   * @param arguments the folder of the documents
   */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    Path file = folder.resolve(FILE);
    Files.writeString(file, rendered(Files.readString(file)));
    plots().forEach((name, options) -> Simulation.plot(options, folder.resolve(name)));
  }

  /** Returns the document with the figures of today's simulator. */
  static String rendered(String document) {
    return BLOCK
        .matcher(document)
        .replaceAll(
            match ->
                Matcher.quoteReplacement(
                        match.group(1) + "\n" + BLOCKS.get(match.group(2)).get() + "\n")
                    + match.group(3));
  }

  /** Returns the names of the blocks that a document must have. */
  static List<String> blocks() {
    return BLOCKS.keySet().stream().sorted().toList();
  }

  /** Returns the plots by the names of their files, each with the options that draw it. */
  static Map<String, String> plots() {
    Map<String, String> plots = new LinkedHashMap<>();
    plots.put("policies-shuffle.svg", BASE + " --policy minio,lru,fifo,random,linux");
    plots.put(
        "policies-skewed.svg",
        BASE + " --order skewed --policy minio,lru,random,tinylfu,linux,belady");
    return plots;
  }

  private static String shuffled() {
    List<String> policies =
        List.of("minio", "minio-hash", "lru", "fifo", "random", "tinylfu", "linux", "belady");
    String options = BASE + CAPACITIES + " --policy " + String.join(",", policies);
    Simulation simulation = Simulation.of(options);
    MarkdownTable table = new MarkdownTable("c", "theory: MinIO", "theory: LRU");
    policies.forEach(table::column);
    for (int percent : PERCENTS) {
      double c = percent / 100.0;
      table.row(ratio(c), ratio(c), ratio(c + (1 - c) * Math.log(1 - c)));
      policies.forEach(policy -> table.cell(ratio(simulation.at(policy, percent).hitRatio())));
    }
    return command(options) + table;
  }

  private static String oneServer() {
    String shuffle = BASE + CAPACITIES + " --policy minio,linux";
    String scan = BASE + CAPACITIES + " --order sequential --policy minio,linux";
    Simulation shuffled = Simulation.of(shuffle);
    Simulation scanned = Simulation.of(scan);
    MarkdownTable table = new MarkdownTable("what", "memory for", "paper", "simulated");
    table.row("page cache, shuffled: hits", "35 %", "15 %", hits(shuffled.at("linux", 35)));
    table.row("page cache, shuffled: hits", "65 %", "47 %", hits(shuffled.at("linux", 65)));
    table.row("MinIO, shuffled: misses", "65 %", "35 %", misses(shuffled.at("minio", 65)));
    table.row("… read of 645 GB", "65 %", "225 GB", bytes(645, "GB", shuffled.at("minio", 65)));
    table.row("page cache, shuffled: misses", "65 %", "53 %", misses(shuffled.at("linux", 65)));
    table.row("… read of 645 GB", "65 %", "340 GB", bytes(645, "GB", shuffled.at("linux", 65)));
    table.row("page cache, in order: misses", "65 %", "66 %", misses(scanned.at("linux", 65)));
    table.row("page cache, record files: misses", "50 %", "91 %", misses(scanned.at("linux", 50)));
    table.row("page cache, record files: misses", "35 %", "94 %", misses(scanned.at("linux", 35)));
    table.row("page cache, record files: misses", "25 %", "97 %", misses(scanned.at("linux", 25)));
    table.row("MinIO, in order: misses", "65 %", "", misses(scanned.at("minio", 65)));
    return command(shuffle, scan) + table;
  }

  private static String nodes() {
    String options = BASE + " --capacity 10%,35% --policy minio --nodes N";
    MarkdownTable table =
        new MarkdownTable("nodes", "c of each", "theory: origin", "origin", "peers", "own memory");
    for (int nodes : List.of(1, 2, 4, 8)) {
      Simulation simulation = Simulation.of(options.replace("--nodes N", "--nodes " + nodes));
      for (int percent : List.of(10, 35)) {
        Simulation.Run run = simulation.at("minio", percent);
        table.row(
            Integer.toString(nodes),
            ratio(percent / 100.0),
            ratio(Math.max(0, 1 - nodes * percent / 100.0)),
            ratio(run.originShare()),
            ratio(run.peerShare()),
            ratio(run.hitRatio()));
      }
    }
    return command(options) + table;
  }

  private static String known() {
    List<Integer> percents = List.of(10, 20, 35, 65, 90);
    String options =
        "--files 2000 --size 100000 --epochs 48 --capacity 10%,20%,35%,65%,90%"
            + " --order known --nodes N";
    MarkdownTable table =
        new MarkdownTable(
            "nodes",
            "c of each",
            "`minio` origin",
            "moved",
            "own memory",
            "`belady` origin",
            "own memory",
            "`cooperative` origin",
            "moved",
            "own memory");
    for (int nodes : List.of(2, 4, 8)) {
      Simulation simulation = Simulation.of(options.replace("--nodes N", "--nodes " + nodes), 32);
      for (int percent : percents) {
        Simulation.Run minio = simulation.at("minio", percent);
        Simulation.Run belady = simulation.at("belady", percent);
        Simulation.Run cooperative = simulation.at("cooperative", percent);
        table.row(
            Integer.toString(nodes),
            ratio(percent / 100.0),
            ratio(minio.originShare()),
            ratio(minio.peerShare()),
            ratio(minio.hitRatio()),
            ratio(belady.originShare()),
            ratio(belady.hitRatio()),
            ratio(cooperative.originShare()),
            ratio(cooperative.peerShare() + cooperative.pushedShare()),
            ratio(cooperative.hitRatio()));
      }
    }
    return command(options) + table;
  }

  private static String twoServers() {
    String options = BASE + " --capacity 51% --policy linux,minio --nodes 2 --coordination ";
    Simulation shards = Simulation.of(options + "shards");
    Simulation peers = Simulation.of(options + "peers");
    MarkdownTable table =
        new MarkdownTable("two servers, 146 GiB, memory for 51 %", "paper", "simulated");
    double half = 146 / 2.0;
    table.row(
        "page cache, each for itself: read by each server",
        "45 GiB",
        bytes(half, "GiB", shards.at("linux", 51)));
    table.row("MinIO, each for itself", "", bytes(half, "GiB", shards.at("minio", 51)));
    table.row("MinIO, partitioned", "0", bytes(half, "GiB", peers.at("minio", 51)));
    return command(options + "shards", options + "peers") + table;
  }

  private static String jobs() {
    String own = BASE + " --jobs 8 --capacity 35% --policy linux,lru,minio";
    String shared = own + " --shared-order";
    Simulation apart = Simulation.of(own);
    Simulation together = Simulation.of(shared);
    MarkdownTable table =
        new MarkdownTable("8 jobs, memory for 35 %", "theory", "paper", "simulated");
    table.row("page cache, own orders", "", "6.1 D", times(apart.at("linux", 35)));
    table.row("LRU, own orders", "5.47 D", "", times(apart.at("lru", 35)));
    table.row("MinIO, own orders", "5.20 D", "", times(apart.at("minio", 35)));
    table.row("page cache, one order", "", "", times(together.at("linux", 35)));
    table.row("MinIO, one order", "0.65 D", "", times(together.at("minio", 35)));
    return command(own, shared) + table;
  }

  private static String orders() {
    List<String> policies = List.of("minio", "lru", "random", "tinylfu", "linux", "belady");
    String options = BASE + " --capacity 50% --policy " + String.join(",", policies);
    MarkdownTable table = new MarkdownTable("order");
    policies.forEach(table::column);
    for (String order :
        List.of("shuffle", "sequential", "window:400", "skewed:0.5", "skewed:0.9", "one-pass")) {
      Simulation simulation = Simulation.of(options + " --order " + order);
      table.row("`" + order + "`");
      policies.forEach(policy -> table.cell(ratio(simulation.at(policy, 50).hitRatio())));
    }
    return command(options + " --order ORDER") + table;
  }

  private static String command(String... options) {
    return List.of(options).stream()
        .map(each -> "holdfast simulate " + each + "\n")
        .collect(Collectors.joining("", "```\n", "```\n\n"));
  }

  private static String ratio(double ratio) {
    return String.format(Locale.ROOT, "%.3f", ratio).replaceFirst("^0\\.", ".");
  }

  private static String hits(Simulation.Run run) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * run.hitRatio());
  }

  private static String misses(Simulation.Run run) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * (1 - run.hitRatio()));
  }

  private static String times(Simulation.Run run) {
    return String.format(Locale.ROOT, "%.2f D", run.originShare());
  }

  private static String bytes(double whole, String unit, Simulation.Run run) {
    return String.format(Locale.ROOT, "%.0f %s", whole * run.originShare(), unit);
  }
}
