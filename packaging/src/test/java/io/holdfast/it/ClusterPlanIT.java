package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.it.Cluster.Fetches;
import io.holdfast.it.Cluster.Node;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Nodes whose jobs are the ranks of one DistributedSampler, with room for 35 % of the dataset each.
 * D is the dataset's bytes. With {@code holdfast.plan-end=true} the plan is not taken back, but
 * ends some ten minutes after the last epoch that was announced.
 */
@ResourceLock(Cluster.BUSY)
@Order(2)
@Timeout(value = 900, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterPlanIT {
  private static final int FILES = Integer.getInteger("holdfast.plan-files", 1200);
  private static final int NODES = Integer.getInteger("holdfast.plan-nodes", 2);
  private static final int EPOCHS = Integer.getInteger("holdfast.plan-epochs", 5);
  private static final boolean TO_THE_END = Boolean.getBoolean("holdfast.plan-end");
  private static final int EPOCHS_THAT_ARE_NOT_READ = TO_THE_END ? -1 : 4;

  /** The first epoch that the nodes agree on. */
  private static final int FIRST = 3;

  private static final int FILE_BYTES = 16 << 10;
  private static final double PART = 0.35;

  /** How many files ranks may be apart: two batches, as with a barrier after each. */
  private static final int STEP = 16;

  /** How far a figure may be from its value, as a part of the dataset. */
  private static final double TOLERANCE = 0.02;

  private static final Duration SETTLE = Duration.ofSeconds(60);
  private static final Duration END = Duration.ofMinutes(15);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private Dataset dataset;
  private Cluster cluster;
  private Path list;

  private void start(int nodes) throws IOException {
    dataset = Dataset.create(sandbox.tmpfs("origin"), FILES, i -> FILE_BYTES);
    list = Files.write(sandbox.root().resolve("list"), dataset.files());
    long capacity = (long) (PART * dataset.bytes());
    cluster = new Cluster(sandbox, "--capacity", Long.toString(capacity), "--window-age", "100ms");
    cluster.start(dataset.root(), nodes);
  }

  /** Announces a rank; returns what the command prints. */
  private String announce(Node node, int seed, int world, int rank, int from) {
    Mount mount = node.mount();
    return sandbox
        .holdfast(
            "order",
            mount.name(),
            "--job",
            job(mount),
            "--sampler",
            "torch",
            "--seed",
            Integer.toString(seed),
            "--epochs",
            from + "-" + (from + EPOCHS + EPOCHS_THAT_ARE_NOT_READ),
            "--world",
            Integer.toString(world),
            "--rank",
            Integer.toString(rank),
            "--list",
            list.toString())
        .mustSucceed()
        .out();
  }

  private void clear(Node node) {
    Mount mount = node.mount();
    sandbox.holdfast("order", mount.name(), "--job", job(mount), "--clear").mustSucceed();
  }

  /** Returns the name of the job that all readers are. */
  private static String job(Mount mount) {
    return mount.stats().list("jobs.jobs").stream()
        .max(Comparator.comparingLong(job -> job.number("opens")))
        .map(job -> String.valueOf(job.at("job")))
        .orElseThrow();
  }

  /** Has each node learn of its job, which a node does when the job opens files. */
  private void readSome() {
    List<Path> some = new ArrayList<>();
    for (int i = 0; i < cluster.nodes().size(); i++) {
      some.add(dataset.list(sandbox, IntStream.range(50 * i, 50 * i + 50).boxed().toList()));
    }
    cluster.readShares(some);
    for (Node node : cluster.nodes()) {
      node.mount().awaitStats("opens", stats -> stats.number("opens.total") >= 50);
    }
  }

  /** Returns what each rank reads in an epoch. */
  private List<Path> lists(int seed, int world, int epoch) {
    return IntStream.range(0, world)
        .mapToObj(rank -> dataset.list(sandbox, indices(seed, world, rank, epoch)))
        .toList();
  }

  private static List<Integer> indices(int seed, int world, int rank, int epoch) {
    TorchSampler.Replica replica = new TorchSampler.Replica(rank, world, false);
    TorchSampler sampler = new TorchSampler(BigInteger.valueOf(seed), epoch, true, replica);
    return Arrays.stream(sampler.indices(FILES)).boxed().toList();
  }

  /** The command computes what these tests compute by themselves. */
  private void assertCommandPrintsWhatARankReads(int seed, int world, int rank, int epoch) {
    String names =
        sandbox
            .holdfast(
                "order",
                "--sampler",
                "torch",
                "--seed",
                Integer.toString(seed),
                "--epoch",
                Integer.toString(epoch),
                "--world",
                Integer.toString(world),
                "--rank",
                Integer.toString(rank),
                "--list",
                list.toString(),
                "--print")
            .mustSucceed()
            .out();
    assertThat(names.lines())
        .containsExactlyElementsOf(
            indices(seed, world, rank, epoch).stream().map(dataset.files()::get).toList());
  }

  private static String state(Node node) {
    return String.valueOf(node.mount().stats().at("cluster.plan.state"));
  }

  private void awaitPlan(int epoch) {
    for (Node node : cluster.nodes()) {
      Await.value(
          SETTLE,
          "epoch " + epoch + " is planned at " + node.address(),
          () ->
              "%s %s, %s"
                  .formatted(
                      state(node),
                      node.mount().stats().number("cluster.plan.epoch"),
                      node.mount().stats().list("orders")),
          words -> words.startsWith("followed " + epoch + ","));
    }
  }

  private double planned(String figure) {
    long sum = 0;
    for (Node node : cluster.nodes()) {
      sum += node.mount().stats().number("cluster.plan." + figure);
    }
    return part(sum);
  }

  private double part(long bytes) {
    return (double) bytes / dataset.bytes();
  }

  /** Of one epoch after the other; the first of them are those that the nodes do not agree on. */
  @Test
  void epochs_ofRanksThatAgree_readFromMemoryPeersAndOriginWhatThePlanSays() throws IOException {
    start(NODES);
    readSome();
    assertOrdersThatDisagreeAreNotPlanned();
    assertThat(announce(cluster.node(1), 5, NODES, 1, FIRST)).doesNotContain("do not plan");
    assertCommandPrintsWhatARankReads(5, NODES, NODES - 1, 1);

    for (int epoch = FIRST; epoch < FIRST + EPOCHS; epoch++) {
      awaitPlan(epoch);
      double local = planned("local_bytes");
      double peer = planned("peer_bytes");
      double origin = planned("origin_bytes");
      List<Path> lists = lists(5, NODES, epoch);
      long start = System.nanoTime();
      Fetches read = cluster.readInSteps(lists, STEP, step -> {});
      String where =
          "epoch %d of %d nodes, %d ms: peers %.4f, origin %.4f; planned: local %.4f, peers %.4f, origin %.4f; %s"
              .formatted(
                  epoch,
                  NODES,
                  Duration.ofNanos(System.nanoTime() - start).toMillis(),
                  part(read.peerBytes()),
                  part(read.originBytes()),
                  local,
                  peer,
                  origin,
                  cluster.nodes().stream()
                      .map(
                          node ->
                              state(node)
                                  + " "
                                  + node.mount().stats().number("cluster.plan.elsewhere_items"))
                      .toList());
      System.out.println(where);
      assertThat(part(read.peerBytes())).as(where).isCloseTo(peer, within(TOLERANCE));
      assertThat(part(read.originBytes())).as(where).isCloseTo(origin, within(TOLERANCE));
    }

    if (TO_THE_END) {
      assertEndsByItself();
      return;
    }
    Node first = cluster.node(0);
    clear(first);
    Await.until(SETTLE, "its end", () -> state(first).equals("an order was taken back"));
    for (Node node : cluster.nodes().subList(1, NODES)) {
      Await.until(
          SETTLE,
          "the end of the plan at " + node.address(),
          () -> state(node).endsWith(" has withdrawn its offer"));
    }
  }

  /** One rank is over first; then nothing keeps the others either. */
  private void assertEndsByItself() {
    long start = System.nanoTime();
    for (Node node : cluster.nodes()) {
      String state =
          Await.value(END, "an end", () -> state(node), words -> !words.startsWith("followed"));
      System.out.printf(
          "%s after %d s: %s%n",
          node.address(), Duration.ofNanos(System.nanoTime() - start).toSeconds(), state);
      assertThat(state).containsAnyOf("has read its order to the end", "has withdrawn its offer");
    }
    assertGoesOnWithoutPlan();
  }

  /**
   * A node is killed in the middle of a planned epoch. The others go on without the plan; it may
   * cost one epoch what the node had, and what has to move. Then the origin gives what it gives to
   * nodes that never planned. When the node is back and all announce again, they plan again, from
   * what is resident.
   */
  @Test
  void node_thatIsKilledInTheMiddle_costsAnEpochAtMost_andIsPlannedWithAgain() throws IOException {
    start(3);
    readSome();
    for (int node = 0; node < 3; node++) {
      announce(cluster.node(node), 5, 3, node, 0);
    }
    assertReadsWhatIsPlanned(0, 3);
    awaitPlan(3);
    Node killed = cluster.node(1);

    cluster.readInSteps(
        lists(5, 3, 3),
        STEP,
        step -> {
          if (step == FILES / 3 / STEP / 2) {
            killed.mount().kill();
            cluster.remove(killed);
          }
        });
    cluster.awaitWhole(SETTLE);
    for (Node node : cluster.nodes()) {
      Await.until(SETTLE, "no plan at " + node.address(), () -> !state(node).equals("followed"));
    }
    assertGoesOnWithoutPlan();

    cluster.nodes().add(1, killed);
    cluster.restart(killed);
    readSome();
    for (int node = 0; node < 3; node++) {
      announce(cluster.node(node), 5, 3, node, 4);
    }
    assertReadsWhatIsPlanned(4, 6);
  }

  /** Three ranks read some epochs, at first perhaps of nodes that have nothing. */
  private void assertReadsWhatIsPlanned(int from, int to) throws IOException {
    for (int epoch = from; epoch < to; epoch++) {
      awaitPlan(epoch);
      double peer = planned("peer_bytes");
      double origin = planned("origin_bytes");
      Fetches read = cluster.readInSteps(lists(5, 3, epoch), STEP, step -> {});
      String where = "epoch %d: %s; planned %.4f %.4f".formatted(epoch, read, peer, origin);
      System.out.println(where);
      assertThat(part(read.peerBytes())).as(where).isCloseTo(peer, within(TOLERANCE));
      assertThat(part(read.originBytes())).as(where).isCloseTo(origin, within(TOLERANCE));
    }
  }

  /** After one epoch, two nodes read from the origin what neither has room for. */
  private void assertGoesOnWithoutPlan() {
    List<Double> origins = new ArrayList<>();
    for (int epoch = 0; epoch < 3; epoch++) {
      origins.add(part(cluster.readShares(dataset.shares(sandbox, random, 2)).originBytes()));
    }
    System.out.println("without a plan, from the origin " + origins);
    assertThat(origins.get(0)).as("seed %d", seed).isLessThan(1);
    for (double later : origins.subList(1, 3)) {
      assertThat(later).as("%s, seed %d", origins, seed).isLessThan(1 - 2 * PART + TOLERANCE);
    }
  }

  /** Each node keeps what it owns, as without an order, and each says why there is no plan. */
  private void assertOrdersThatDisagreeAreNotPlanned() throws IOException {
    Node first = cluster.node(0);
    Node second = cluster.node(1);
    announce(first, 5, NODES, 0, 0);
    assertThat(state(second)).isEqualTo("no order of several ranks is announced");
    Await.until(
        SETTLE,
        "one offer",
        () -> state(first).equals("1 of " + NODES + " nodes have offered their parts"));
    announce(second, 6, NODES, 1, 0);
    for (int node = 2; node < NODES; node++) {
      announce(cluster.node(node), 5, NODES, node, 0);
    }
    for (Node node : cluster.nodes()) {
      Await.until(SETTLE, "a difference", () -> state(node).endsWith(" reads another order"));
    }
    List<Path> orders = new ArrayList<>(lists(5, NODES, 0));
    orders.set(1, lists(6, NODES, 0).get(1));
    cluster.readShares(orders);
    Fetches read = null;
    for (int epoch = 0; epoch < 2; epoch++) {
      read = cluster.readShares(dataset.shares(sandbox, random, NODES));
    }
    double elsewhere = Math.max(0, 1 - NODES * PART);
    assertThat(part(read.originBytes())).isCloseTo(elsewhere, within(TOLERANCE));

    for (int node = NODES - 1; node >= 0; node--) {
      announce(cluster.node(node), 5, NODES, node == 1 ? 0 : node, FIRST);
    }
    String twice = "the nodes have %d different ranks of %d".formatted(NODES - 1, NODES);
    for (Node node : cluster.nodes()) {
      Await.until(SETTLE, "a rank twice", () -> state(node).equals(twice));
    }
  }
}
