package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Nodes that are peers: each a mount on a host of its own. All read the same directory, as if it
 * were one on a shared store.
 */
public final class Cluster {
  public static final int PORT = 7070;

  /**
   * The lock of tests whose nodes are busy all the time: one at a time, because peers that get no
   * processor are late, and given up.
   */
  static final String BUSY = "busy cluster";

  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration EPOCH =
      Duration.ofSeconds(Long.getLong("holdfast.epoch-seconds", 120));
  private static final int THREADS = 2;

  /**
   * Nodes of tests end long before they have back what the second compiler takes: half of their
   * time. Their proofs are of few bytes, so the first compiler is fast enough for them.
   */
  static final String FIRST_COMPILER = "-XX:TieredStopAtLevel=1";

  private final Sandbox sandbox;
  private final Network network;
  private final List<String> options;
  private final Membership membership;
  private final List<Node> nodes = new ArrayList<>();
  private Function<Node, Map<String, String>> environment = node -> Map.of();

  /** A host and its mount. */
  public record Node(Host host, Mount mount) {
    /** Its name among its peers. */
    public String address() {
      return host.address() + ":" + PORT;
    }
  }

  /** How nodes find each other and prove who they are, as options of their mounts. */
  private interface Membership {
    List<String> options(Node node);

    /** These hosts are to be nodes, from before they start. */
    default void add(List<Host> hosts) {}
  }

  /**
   * Nodes that have a secret and find each other by a name that DNS has all their addresses for.
   */
  private final class ByName implements Membership {
    private final Path secret = writeSecret(sandbox);
    private final NameServer names;

    ByName(NameServer names) {
      this.names = names;
    }

    @Override
    public List<String> options(Node node) {
      return List.of(
          "--peers", "dns:" + NameServer.NAME, "--cluster-secret-file", secret.toString());
    }

    @Override
    public void add(List<Host> hosts) {
      names.name(nodes.stream().map(Node::host).toList());
      hosts.forEach(names::serve);
    }
  }

  /** The fetches of all nodes together. */
  public record Fetches(long originItems, long originBytes, long peerItems, long peerBytes) {
    public Fetches minus(Fetches before) {
      return new Fetches(
          originItems - before.originItems,
          originBytes - before.originBytes,
          peerItems - before.peerItems,
          peerBytes - before.peerBytes);
    }
  }

  /**
   * A cluster without nodes yet.
   *
   * @param options of every node's mount, besides those that make it a peer
   */
  public Cluster(Sandbox sandbox, String... options) {
    this.sandbox = sandbox;
    this.options = List.of(options);
    network = Network.create(sandbox);
    Path secret = writeSecret(sandbox);
    membership =
        node ->
            List.of(
                "--peers",
                nodes.stream().map(Node::address).collect(Collectors.joining(",")),
                "--cluster-secret-file",
                secret.toString());
  }

  /** The same, of nodes that have certificates and find each other in a directory. */
  public Cluster(Sandbox sandbox, Authority authority, Path directory, String... options) {
    this.sandbox = sandbox;
    this.options = List.of(options);
    network = Network.create(sandbox);
    membership =
        node -> {
          List<String> words = new ArrayList<>(List.of("--peers", "dir:" + directory));
          words.addAll(authority.issue(node.host().address()).options());
          return words;
        };
  }

  /** The same, of nodes that find each other by the name that is served. */
  public Cluster(Sandbox sandbox, NameServer names, String... options) {
    this.sandbox = sandbox;
    this.options = List.of(options);
    network = Network.create(sandbox);
    membership = new ByName(names);
  }

  private static Path writeSecret(Sandbox sandbox) {
    Path secret = sandbox.root().resolve("cluster-secret");
    try {
      Files.createFile(
          secret,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(secret, sandbox.id() + " is known to these nodes only\n");
      return secret;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has the processes of each node started with variables of its own. */
  public Cluster with(Function<Node, Map<String, String>> environmentOfNode) {
    environment = environmentOfNode;
    return this;
  }

  public Network network() {
    return network;
  }

  /** The nodes, the oldest first. */
  public List<Node> nodes() {
    return nodes;
  }

  public Node node(int index) {
    return nodes.get(index);
  }

  public Node last() {
    return nodes.get(nodes.size() - 1);
  }

  /** Starts nodes on new hosts and waits until all nodes are one cluster. */
  public void start(Path origin, int count) {
    start(IntStream.range(0, count).mapToObj(i -> origin).toList());
  }

  /** Starts a node for each of these origins, at once; they are told of each other and the rest. */
  public void start(List<Path> origins) {
    List<Node> more =
        origins.stream()
            .map(origin -> new Node(network.addHost(), sandbox.declare(origin)))
            .toList();
    nodes.addAll(more);
    membership.add(more.stream().map(Node::host).toList());
    awaitStarted(more, more.stream().map(this::launch).toList());
  }

  /** Starts a node that has ended, under its old address. */
  public void restart(Node node) {
    awaitStarted(List.of(node), List.of(launch(node)));
  }

  /** Starts a node that has ended, and does not wait until the others know it again. */
  public void restartAlone(Node node) {
    node.mount().started(launch(node).await(START).mustSucceed());
  }

  /** Forgets a node that has ended for good. */
  public void remove(Node node) {
    nodes.remove(node);
  }

  private Child launch(Node node) {
    List<String> command = new ArrayList<>(node.host().enter());
    List<String> all = new ArrayList<>(options);
    all.addAll(List.of("--listen", node.address(), "--dataset-id", "photos"));
    all.addAll(membership.options(node));
    command.addAll(node.mount().command(all.toArray(String[]::new)));
    Map<String, String> variables = new HashMap<>(environment.apply(node));
    variables.put("HOLDFAST_JAVA_OPTIONS", FIRST_COMPILER);
    return sandbox.start(variables, command);
  }

  private void awaitStarted(List<Node> started, List<Child> starting) {
    for (int i = 0; i < started.size(); i++) {
      started.get(i).mount().started(starting.get(i).await(START).mustSucceed());
    }
    awaitWhole(START);
  }

  /** Waits until every node knows all others. */
  public void awaitWhole(Duration deadline) {
    for (Node node : nodes) {
      Await.value(
          deadline,
          "nodes that " + node.address() + " knows",
          () -> {
            Stats stats = node.mount().stats();
            return stats.number("cluster.nodes") + stats.number("cluster.other_dataset");
          },
          count -> count == nodes.size());
    }
  }

  /** One epoch: every node reads its random share of all files, all from the same moment on. */
  public Fetches readShares(List<Path> shares) {
    return read(nodes, shares);
  }

  /**
   * All nodes read their lists, and none is more than a step ahead of another, as ranks that wait
   * for each other; every byte must be right. A node that is removed meanwhile may fail.
   *
   * @param step how many files are read at a time
   * @param before learns how many steps there were, before the next one
   */
  public Fetches readInSteps(List<Path> lists, int step, IntConsumer before) throws IOException {
    Fetches earlier = fetches();
    List<Node> readers = List.copyOf(nodes);
    List<Child> children = new ArrayList<>();
    int steps = 0;
    for (int i = 0; i < readers.size(); i++) {
      Path mountpoint = readers.get(i).mount().mountpoint();
      children.add(
          sandbox.startJava(
              Reader.class, mountpoint, lists.get(i), THREADS, "share", "wait", step));
      steps = Math.max(steps, (Files.readAllLines(lists.get(i)).size() + step - 1) / step);
    }
    for (int i = 0; i < steps; i++) {
      for (int reader = 0; reader < readers.size(); reader++) {
        if (nodes.contains(readers.get(reader))) {
          children.get(reader).awaitLine(i + 1, EPOCH);
        }
      }
      before.accept(i);
      for (int reader = 0; reader < readers.size(); reader++) {
        if (nodes.contains(readers.get(reader))) {
          children.get(reader).tell("go");
        }
      }
    }
    for (int reader = 0; reader < readers.size(); reader++) {
      if (nodes.contains(readers.get(reader))) {
        Child.Result result = children.get(reader).await(EPOCH);
        assertThat(result.exit()).as("%s", result).isZero();
      } else {
        children.get(reader).signal(Posix.SIGKILL);
      }
    }
    return fetches().minus(earlier);
  }

  /** Some nodes read their lists, all from the same moment on; every byte must be right. */
  public Fetches read(List<Node> readers, List<Path> lists) {
    Fetches before = fetches();
    List<Child> children = new ArrayList<>();
    for (int i = 0; i < readers.size(); i++) {
      Path mountpoint = readers.get(i).mount().mountpoint();
      children.add(
          sandbox.startJava(Reader.class, mountpoint, lists.get(i), THREADS, "share", "wait"));
    }
    children.forEach(child -> child.awaitLine(1, START));
    children.forEach(child -> child.tell("go"));
    List<Child.Result> results = children.stream().map(child -> child.await(EPOCH)).toList();
    for (int i = 0; i < readers.size(); i++) {
      Mount mount = readers.get(i).mount();
      Child.Result result = results.get(i);
      assertThat(result.exit())
          .as("mounted: %s, its log ends: %s; %s", mount.isMounted(), mount.lastLogged(), result)
          .isZero();
    }
    return fetches().minus(before);
  }

  /** Returns the fetches of all nodes, once they are at rest. */
  public Fetches fetches() {
    List<Stats> all = nodes.stream().map(node -> node.mount().settledStatsOfPeer()).toList();
    return new Fetches(
        sum(all, "fetches.origin.items"),
        sum(all, "fetches.origin.bytes"),
        sum(all, "fetches.peer.items"),
        sum(all, "fetches.peer.bytes"));
  }

  /** Returns the residents of all nodes together, in bytes. */
  public long residentBytes() {
    return nodes.stream()
        .mapToLong(node -> node.mount().settledStatsOfPeer().residentBytes())
        .sum();
  }

  private static long sum(List<Stats> all, String figure) {
    ToLongFunction<Stats> number = stats -> stats.number(figure);
    return all.stream().mapToLong(number).sum();
  }
}
