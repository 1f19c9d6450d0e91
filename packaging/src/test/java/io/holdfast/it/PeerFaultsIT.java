package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.it.Cluster.Node;
import io.holdfast.it.Liar.Lie;
import io.holdfast.posix.Posix;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever becomes of its peers, a node's reads give right bytes, and in time: eight readers check
 * every byte while a fault comes and goes, and afterwards the cluster is whole again.
 *
 * <p>How often each fault comes is {@code holdfast.peer-faults}; from 2 on it is the long form,
 * with all faults, and longer ones.
 */
@ResourceLock(Cluster.BUSY)
@Order(3)
@Timeout(value = 900, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeerFaultsIT {
  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static final int ROUNDS = Integer.getInteger("holdfast.peer-faults", 1);
  private static final boolean LONG = ROUNDS > 1;
  private static final int NODES = LONG ? 4 : 3;

  /** How long a fault lasts, and how long there is none. */
  private static final Duration FAULT = Duration.ofSeconds(LONG ? 12 : 4);

  private static final Duration PAUSE = Duration.ofSeconds(LONG ? 8 : 1);

  /**
   * How long a reader of small files rests between two of them: it reads hundreds during a fault,
   * and leaves nodes the processors.
   */
  private static final Duration READERS_PAUSE = Duration.ofMillis(LONG ? 0 : 5);

  /** The deadlines of a request to a peer, then the origin, on a machine with much else to do. */
  private static final long LONGEST_READ_MILLIS = 6000;

  private static final Duration WHOLE_AGAIN = Duration.ofSeconds(60);
  private static final Duration START = Duration.ofSeconds(60);
  private static final int LARGE = 5 << 20;
  private static final int LIARS_PORT = 7080;
  private static final int LIES_ONE_OF = 2;

  /** Most reads are to need a peer. */
  private static final String WINDOW_AGE = "100ms";

  private static Dataset dataset;
  private static Cluster cluster;
  private static Child liar;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** All of it; later it is there again, under the same address and without items. */
  private static final Fault NODE_KILLED =
      new Fault("node killed", 1, node -> node.mount().kill(), PeerFaultsIT::startAgain);

  private static final Fault COORDINATOR_KILLED =
      new Fault("coordinator killed", 0, node -> node.mount().kill(), PeerFaultsIT::startAgain);

  /** Its supervisor starts another. */
  private static final Fault DAEMON_KILLED =
      new Fault(
          "daemon killed",
          1,
          node -> node.mount().signal(Posix.SIGKILL),
          node -> node.mount().findAgain(START));

  private static final Fault NODE_STOPPED =
      new Fault("node stopped", 1, PeerFaultsIT::stop, PeerFaultsIT::goOn);

  private static final Fault CUT = ofNetwork("cut", node -> node.host().cut());
  private static final Fault CUT_INCOMING =
      ofNetwork("cut incoming", node -> node.host().cutIncoming());
  private static final Fault CUT_OUTGOING =
      ofNetwork("cut outgoing", node -> node.host().cutOutgoing());
  private static final Fault RESETS = ofNetwork("resets", node -> node.host().reset(50));
  private static final Fault LOSS = ofNetwork("50 % loss", node -> node.host().lose(50));

  private static final Fault BIT = ofLies(Lie.BIT);
  private static final Fault VERSION = ofLies(Lie.VERSION);
  private static final Fault SHORT = ofLies(Lie.SHORT);
  private static final Fault RESET = ofLies(Lie.RESET);
  private static final Fault LATE = ofLies(Lie.LATE);
  private static final Fault LIES = ofLies(Lie.values());

  private static final Fault HALVES =
      ofNetwork("halves", node -> cluster.network().partition(firstHalf()));

  /**
   * A fault of a peer: the peer, the beginning and the end. The oldest node coordinates the
   * cluster.
   */
  private record Fault(String name, int victim, Consumer<Node> begin, Consumer<Node> end) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Fault ofNetwork(String name, Consumer<Node> begin) {
    return new Fault(name, 1, begin, node -> cluster.network().heal());
  }

  /** Some answers are not what the peer has said; the others are. */
  private static Fault ofLies(Lie... lies) {
    return new Fault(Arrays.toString(lies), 1, node -> lie(node, lies), PeerFaultsIT::endLies);
  }

  @BeforeAll
  static void start() {
    dataset =
        Dataset.create(
            SANDBOX.tmpfs("origin"), 900, i -> i % 90 == 89 ? LARGE : 2000 + 97 * (i % 1000));
    cluster =
        new Cluster(
            SANDBOX,
            "--capacity",
            Long.toString(dataset.pageBytes() / 2),
            "--window-age",
            WINDOW_AGE);
    cluster.start(dataset.root(), 1);
    cluster.start(dataset.root(), NODES - 1);
    cluster.readShares(dataset.shares(SANDBOX, new Random(1), NODES));
  }

  private static Stream<Fault> faults() {
    return LONG
        ? Stream.of(
            NODE_KILLED,
            COORDINATOR_KILLED,
            DAEMON_KILLED,
            NODE_STOPPED,
            CUT,
            CUT_INCOMING,
            CUT_OUTGOING,
            RESETS,
            LOSS,
            HALVES,
            BIT,
            VERSION,
            SHORT,
            RESET,
            LATE)
        : Stream.of(COORDINATOR_KILLED, NODE_STOPPED, CUT, LIES);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void fault_whileEightReadersRead_isNotNoticed(Fault fault) {
    Node victim = cluster.node(fault.victim());
    Node observer = cluster.last();
    Child verifier =
        SANDBOX.startJava(
            Verifier.class,
            observer.mount().mountpoint(),
            dataset.permutation(SANDBOX, random),
            PAUSE.plus(FAULT).plus(PAUSE).multipliedBy(ROUNDS).toSeconds(),
            seed,
            READERS_PAUSE.toMillis());
    awaitReads(verifier);
    long extra = observer.mount().stats().number("fetches.origin.bytes");

    for (int round = 0; round < ROUNDS; round++) {
      pass(PAUSE);
      fault.begin().accept(victim);
      pass(FAULT);
      fault.end().accept(victim);
      pass(PAUSE);
    }

    assertVerified(fault, verifier);
    extra = observer.mount().stats().number("fetches.origin.bytes") - extra;
    System.out.printf(
        "  %d bytes from the origin, %d errors of that peer%n", extra, errorsOf(observer, victim));
    assertThat(extra).as("the fault was felt").isPositive();
    cluster.awaitWhole(WHOLE_AGAIN);
    assertAskedAgain(observer, victim);
  }

  private void assertVerified(Fault fault, Child verifier) {
    Child.Result result = verifier.await(FAULT.plus(PAUSE).multipliedBy(ROUNDS).plusSeconds(60));
    System.out.printf("%s, %d times: %s", fault, ROUNDS, result.out());
    assertThat(result.exit()).as("%s, seed %d", result, seed).isZero();
    Matcher figures =
        Pattern.compile("(?s).*ops=(\\d+) errors=0 wrong=0 longest_ms=(\\d+) .*\n")
            .matcher(result.out());
    assertThat(figures.matches()).as(result.out()).isTrue();
    assertThat(Long.parseLong(figures.group(2)))
        .as("longest read, seed %d", seed)
        .isLessThanOrEqualTo(LONGEST_READ_MILLIS);
  }

  /** The node tries the peer again, and gets the peer's items. */
  private void assertAskedAgain(Node observer, Node victim) {
    long before = itemsOf(observer, victim);
    Await.until(
        WHOLE_AGAIN,
        "items from " + victim,
        () -> {
          Path order = dataset.permutation(SANDBOX, random);
          SANDBOX
              .startJava(Reader.class, observer.mount().mountpoint(), order, 2, "share")
              .await(START)
              .mustSucceed();
          return itemsOf(observer, victim) > before;
        });
  }

  private static long itemsOf(Node observer, Node peer) {
    return observer.mount().stats().ofPeer(peer.address(), "items");
  }

  private static long errorsOf(Node observer, Node peer) {
    return observer.mount().stats().ofPeer(peer.address(), "errors");
  }

  private static void awaitReads(Child verifier) {
    verifier.tell("");
    verifier.awaitLine(1, START);
  }

  private static void pass(Duration time) {
    Await.holdsWithin(time, () -> false);
  }

  private static void stop(Node node) {
    node.mount().preventRestart();
    node.mount().freeze();
  }

  private static void goOn(Node node) {
    node.mount().thaw();
    node.mount().allowRestart();
  }

  private static void lie(Node node, Lie... lies) {
    List<Object> arguments =
        new ArrayList<>(
            List.of(
                LIARS_PORT, node.host().address(), Cluster.PORT, LIES_ONE_OF, System.nanoTime()));
    arguments.addAll(List.of(lies));
    liar =
        SANDBOX.start(
            node.host()
                .entered(Sandbox.java(Liar.class, arguments.toArray()).toArray(String[]::new)));
    liar.awaitLine(1, START);
    node.host().redirect(Cluster.PORT, LIARS_PORT);
  }

  private static void endLies(Node node) {
    node.host().heal();
    liar.closeInput();
    String out = liar.await(START).mustSucceed().out();
    assertThat(Integer.parseInt(out.lines().toList().get(1))).as("lies told").isPositive();
    System.out.printf("  lies told: %s", out);
  }

  private static void startAgain(Node node) {
    node.mount().umount().mustSucceed();
    cluster.restart(node);
  }

  private static List<Host> firstHalf() {
    return cluster.nodes().subList(0, NODES / 2).stream().map(Node::host).toList();
  }
}
