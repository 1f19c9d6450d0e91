package io.holdfast.it;

import static io.holdfast.it.Content.content;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.it.Cluster.Fetches;
import io.holdfast.it.Cluster.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The bytes that a cluster reads from the origin: all of the dataset once in the first epoch, and
 * max(0, 1 - Nc) of it in each later one. D is the dataset's bytes, and c a node's capacity as a
 * part of D. There are two witnesses: the nodes' own figures, and the counter of the origin's disk.
 *
 * <p>The long form has more files, all numbers of nodes with all capacities, and a node that leaves
 * in peace: {@code holdfast.peer-files=20000}.
 */
@ResourceLock(Cluster.BUSY)
@Order(1)
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeersIT {
  private static final int FILES = Integer.getInteger("holdfast.peer-files", 1500);
  private static final boolean LONG = FILES >= 10_000;
  private static final int FILE_BYTES = 16 << 10;

  /** As many as show which node has them, and from where they come. */
  private static final int FEW = 100;

  private static final int EPOCHS = LONG ? 4 : 3;

  /** How far a figure may be from its value, as a part of the dataset. */
  private static final double TOLERANCE = 0.02;

  /** Nothing of an epoch is left in the window when the next one begins. */
  private static final String WINDOW_AGE = "100ms";

  private static final byte[] NEWS = "other content".getBytes(US_ASCII);
  private static final Duration SETTLE = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  static Stream<Arguments> nodesAndCapacities() {
    if (!LONG) {
      return Stream.of(Arguments.of(3, 25));
    }
    return Stream.of(2, 3, 4)
        .flatMap(nodes -> Stream.of(25, 35, 50).map(percent -> Arguments.of(nodes, percent)));
  }

  /** The nodes have certificates, and find each other in a directory. */
  @ParameterizedTest(name = "{0} nodes, c = 0.{1}")
  @MethodSource("nodesAndCapacities")
  void laterEpochs_ofFreshPermutations_readFromTheOriginWhatNoNodeHolds(int nodes, int percent)
      throws IOException {
    CountedDisk disk = disk(FILES);
    Dataset dataset = equalFiles(disk);
    double c = percent / 100.0;
    Cluster cluster =
        new Cluster(
            sandbox,
            Authority.create(sandbox, "certificates"),
            sandbox.folder("members"),
            options(dataset, c));
    cluster.start(dataset.root(), nodes);
    for (Node node : cluster.nodes()) {
      // only the second compiler knows the processor's instructions for proofs: the launcher leaves
      // it on, and nobody but the test switches it off
      assertThat(Files.readString(Path.of("/proc/" + node.mount().pid() + "/cmdline"), US_ASCII))
          .containsOnlyOnce(Cluster.FIRST_COMPILER)
          .doesNotContain("-XX:CICompilerCount", "NumberOfCompilerThreads");
    }

    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      long before = disk.readBytes();
      long start = System.nanoTime();
      Fetches fetches = cluster.readShares(dataset.shares(sandbox, random, nodes));
      long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();
      double ofDisk = part(dataset, disk.readBytes() - before);
      double ofOrigin = part(dataset, fetches.originBytes());
      double ofPeers = part(dataset, fetches.peerBytes());
      String where =
          "epoch %d of %d nodes, c = %.2f: origin %.4f (disk %.4f), peers %.4f, %d ms; seed %d"
              .formatted(epoch + 1, nodes, c, ofOrigin, ofDisk, ofPeers, millis, seed);
      System.out.println(where);
      double expected = epoch == 0 ? 1 : Math.max(0, 1 - nodes * c);
      assertThat(ofOrigin).as(where).isCloseTo(expected, within(TOLERANCE));
      assertThat(ofDisk).as(where).isCloseTo(expected, within(TOLERANCE));
      if (epoch > 0) {
        assertShares(nodes, Math.min(c, 1.0 / nodes), 1 - ofOrigin - ofPeers, ofPeers, where);
      }
    }
  }

  /**
   * A random node reads an item, so the share that the reader itself holds is random too, by so
   * much.
   */
  private static void assertShares(
      int nodes, double held, double local, double ofPeers, String where) {
    double deviation = Math.sqrt(held * (1 - held) / FILES);
    double tolerance = Math.max(TOLERANCE, TOLERANCE / 2 + 4 * deviation);
    assertThat(local).as("local, " + where).isCloseTo(held, within(tolerance));
    assertThat(ofPeers).as("peers, " + where).isCloseTo((nodes - 1) * held, within(tolerance));
  }

  static Stream<Boolean> waysToGo() {
    return LONG ? Stream.of(true, false) : Stream.of(true);
  }

  /**
   * One cluster from its first epoch on: a node goes, and another one comes without an item. The
   * nodes have a secret, and find each other by a name. As in a headless service, the name has an
   * address for each node, even for nodes that are starting.
   */
  @ParameterizedTest(name = "killed: {0}")
  @MethodSource("waysToGo")
  void nodes_thatFindEachOtherByNameGoAndCome_readFromTheOriginWhatNoNodeHoldsAndWhatHasChanged(
      boolean killed) throws IOException {
    CountedDisk disk = disk(FILES);
    Dataset dataset = equalFiles(disk);
    Cluster cluster = new Cluster(sandbox, new NameServer(sandbox), options(dataset, 0.6));
    cluster.start(dataset.root(), 3);

    assertFirstEpochReadsEachItemOnce(cluster, dataset, disk);
    assertGoneNodeCostsItsShareOnce(cluster, dataset, disk, killed);
    assertJoinedNodeGetsItemsFromTheirFormerOwners(cluster, dataset, disk);
    assertChangedFilesThatAPeerAsksForFirstAreNewAtTheirOwnerToo(cluster, dataset);
  }

  /** Jobs that start together and read in the same order want each item at the same moment. */
  private void assertFirstEpochReadsEachItemOnce(
      Cluster cluster, Dataset dataset, CountedDisk disk) {
    Path order = dataset.permutation(sandbox, random);
    long before = disk.readBytes();

    Fetches fetches = cluster.read(cluster.nodes(), Collections.nCopies(3, order));

    System.out.println(fetches);
    assertThat(fetches.originItems()).as("seed %d", seed).isEqualTo(FILES);
    assertThat(part(dataset, disk.readBytes() - before)).isCloseTo(1, within(TOLERANCE));
  }

  private void assertGoneNodeCostsItsShareOnce(
      Cluster cluster, Dataset dataset, CountedDisk disk, boolean killed) {
    Node gone = cluster.node(1);
    double share = part(dataset, gone.mount().settledStatsOfPeer().residentBytes());

    if (killed) {
      gone.mount().kill();
    } else {
      gone.mount().umount().mustSucceed();
    }
    cluster.remove(gone);
    long before = disk.readBytes();
    Fetches fetches = readShares(cluster, dataset);

    double extra = part(dataset, fetches.originBytes());
    System.out.printf("killed: %s, share %.4f, extra %.4f%n", killed, share, extra);
    assertThat(extra).as("seed %d", seed).isLessThan(share + TOLERANCE);
    assertThat(part(dataset, disk.readBytes() - before)).isLessThan(share + TOLERANCE);
    cluster.awaitWhole(SETTLE);
    readShares(cluster, dataset);
    assertThat(part(dataset, readShares(cluster, dataset).originBytes())).isLessThan(TOLERANCE);
  }

  private void assertJoinedNodeGetsItemsFromTheirFormerOwners(
      Cluster cluster, Dataset dataset, CountedDisk disk) {
    assertThat(part(dataset, cluster.residentBytes())).isCloseTo(1, within(TOLERANCE));

    cluster.start(dataset.root(), 1);
    Node joined = cluster.last();
    long before = disk.readBytes();
    // items that a former owner reads from its own memory move when another node reads them
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      Fetches fetches = readShares(cluster, dataset);
      assertThat(part(dataset, fetches.originBytes())).as("seed %d", seed).isLessThan(TOLERANCE);
    }

    assertThat(part(dataset, disk.readBytes() - before)).isLessThan(TOLERANCE);
    assertThat(part(dataset, joined.mount().settledStatsOfPeer().residentBytes()))
        .isCloseTo(1.0 / 3, within(0.05));
    Await.value(
        SETTLE,
        "no item held twice",
        () -> part(dataset, cluster.residentBytes()),
        held -> held < 1 + TOLERANCE);
  }

  /**
   * A dataset id is a promise. Here it is broken, and only bytes differ, not names, sizes or times.
   * The nodes notice before the first byte travels, each says so once of each other, and the nodes
   * that do have the same dataset share it.
   */
  @Test
  void datasetId_ofTwoTreesThatLookTheSame_isNoticedAndNoForeignByteIsRead() throws IOException {
    Dataset one = ofOneTime(Dataset.create(sandbox.tmpfs("one"), FEW, i -> FILE_BYTES));
    Dataset other = ofOneTime(Dataset.create(sandbox.tmpfs("other"), 10_000, FEW, i -> FILE_BYTES));
    Cluster cluster = new Cluster(sandbox, "--capacity", "64M", "--window-age", WINDOW_AGE);
    cluster.start(List.of(one.root(), other.root()));
    List<Path> orders =
        List.of(one.permutation(sandbox, random), other.permutation(sandbox, random));

    Fetches two = cluster.read(cluster.nodes(), orders);
    assertThat(two).as("seed %d", seed).isEqualTo(new Fetches(2 * FEW, two.originBytes(), 0, 0));
    cluster.start(List.of(one.root()));
    Fetches three = cluster.read(List.of(cluster.node(2)), List.of(orders.get(0)));
    cluster.start(List.of(other.root()));
    Fetches four = cluster.read(List.of(cluster.node(3)), List.of(orders.get(1)));

    // the third and the fourth have all from the node with the same dataset, which keeps all of it
    for (Fetches fetches : List.of(three, four)) {
      assertThat(fetches.originItems()).as("%s; seed %d", fetches, seed).isZero();
      assertThat(fetches.peerItems()).as("%s; seed %d", fetches, seed).isEqualTo(FEW);
    }
    cluster.read(
        cluster.nodes(), List.of(orders.get(0), orders.get(1), orders.get(0), orders.get(1)));
    for (int i = 0; i < 4; i++) {
      assertKnowsForeign(cluster.node(i), cluster.node((i + 1) % 4), cluster.node((i + 3) % 4));
    }
    String peers = sandbox.holdfast("peers", cluster.node(0).mount().name()).mustSucceed().out();
    for (Node foreign : List.of(cluster.node(1), cluster.node(3))) {
      assertThat(peers)
          .containsPattern(Pattern.quote(foreign.address()) + " +other dataset ")
          .contains(foreign.address() + ": nothing is shared with it: ");
    }
    assertThat(sandbox.holdfast("doctor", cluster.node(0).mount().name()).out())
        .contains(cluster.node(1).address() + " has another dataset")
        .doesNotContain(cluster.node(2).address() + " has another dataset");
  }

  private static Dataset ofOneTime(Dataset dataset) throws IOException {
    for (String file : dataset.files()) {
      Files.setLastModifiedTime(
          dataset.root().resolve(file), FileTime.fromMillis(1_700_000_000_123L));
    }
    return dataset;
  }

  private static void assertKnowsForeign(Node node, Node... others) throws IOException {
    List<String> log = Files.readAllLines(node.mount().log());
    assertThat(node.mount().stats().number("cluster.other_dataset")).isEqualTo(others.length);
    assertThat(log).filteredOn(line -> line.contains("has another dataset")).hasSize(others.length);
    for (Node other : others) {
      assertThat(log)
          .filteredOn(line -> line.contains(" " + other.address() + " has another dataset than "))
          .singleElement(InstanceOfAssertFactories.STRING)
          .contains(
              "WARN", node.address(), "'photos'", node.mount().source(), other.mount().source())
          .contains("have the same size and time but other bytes", "--dataset-id");
    }
  }

  /** Its own kernel would lead the owner to the old version for as long as names are believed. */
  private void assertChangedFilesThatAPeerAsksForFirstAreNewAtTheirOwnerToo(
      Cluster cluster, Dataset dataset) throws IOException {
    Path some = dataset.list(sandbox, IntStream.range(0, FEW).boxed().toList());
    cluster.read(List.of(cluster.node(0), cluster.node(1)), List.of(some, some));
    Mount asks = cluster.node(0).mount();
    Mount owner = cluster.node(1).mount();
    List<String> changed = dataset.files().subList(0, FEW);
    List<String> owned =
        changed.stream().filter(file -> !owner.xattr(file, "resident").equals("0")).toList();
    assertThat(owned).isNotEmpty();

    for (String file : changed) {
      OriginChange.replace(dataset.root().resolve(file), NEWS);
    }
    asks.refresh();

    for (String file : owned) {
      assertThat(asks.path(file)).has(content(NEWS));
    }
    Await.until(
        SETTLE,
        "the news at their owner",
        () -> owned.stream().allMatch(file -> isNew(owner, file)));
  }

  private static boolean isNew(Mount mount, String file) {
    try {
      return Arrays.equals(Files.readAllBytes(mount.path(file)), NEWS);
    } catch (IOException e) {
      return false; // the old version is no more
    }
  }

  private Fetches readShares(Cluster cluster, Dataset dataset) {
    return cluster.readShares(dataset.shares(sandbox, random, cluster.nodes().size()));
  }

  private CountedDisk disk(int files) {
    return CountedDisk.create(sandbox, "origin", (long) files * FILE_BYTES, files);
  }

  private static Dataset equalFiles(CountedDisk disk) {
    Dataset dataset = Dataset.create(disk.root(), FILES, i -> FILE_BYTES);
    disk.seal();
    return dataset;
  }

  private static String[] options(Dataset dataset, double c) {
    long capacity = (long) (c * dataset.bytes());
    return new String[] {"--capacity", Long.toString(capacity), "--window-age", WINDOW_AGE};
  }

  private static double part(Dataset dataset, long bytes) {
    return (double) bytes / dataset.bytes();
  }
}
