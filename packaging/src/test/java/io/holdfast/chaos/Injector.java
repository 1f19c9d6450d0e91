package io.holdfast.chaos;

import io.holdfast.it.Await;
import io.holdfast.it.Child;
import io.holdfast.it.Cluster;
import io.holdfast.it.Cluster.Node;
import io.holdfast.it.FailingDisk;
import io.holdfast.it.Host;
import io.holdfast.it.Machine;
import io.holdfast.it.Mount;
import io.holdfast.it.Sandbox;
import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

/** Makes things go wrong, and makes them good again. Each place's faults one after the other. */
final class Injector {
  private static final Duration START = Duration.ofSeconds(60);

  private final Sandbox sandbox;
  private final Cluster cluster;
  private final Victims victims;
  private final VerifyingReaders readers;
  private final Path pressure;

  /** The targets of faults besides the nodes. */
  record Victims(ChangingOrigin origin, FailingDisk disk, NodeClocks clocks) {}

  Injector(Sandbox sandbox, Cluster cluster, Victims victims, VerifyingReaders readers) {
    this.sandbox = sandbox;
    this.cluster = cluster;
    this.victims = victims;
    this.readers = readers;
    pressure = sandbox.tmpfs("pressure");
  }

  void begin(Schedule.Planned fault) {
    switch (fault.kind().place()) {
      case NODE -> beginAt(cluster.node(fault.target()), fault.kind());
      case ORIGIN -> victims.origin().become(mode(fault.kind(), fault.amount()));
      case CONTENT ->
          victims.origin().changeSome(new Random(fault.amount()), 1 + fault.amount() / 2);
      case NETWORK -> disturb(cluster.node(fault.target()).host(), fault);
      case STATE -> beginAt(victims.disk(), fault.kind());
      case CLOCK -> victims.clocks().set(fault.target(), offset(fault.amount()));
      case MACHINE -> press(fault);
      case READER -> readers.replace(fault.target());
    }
  }

  void end(Schedule.Planned fault) throws IOException {
    switch (fault.kind().place()) {
      case NODE -> endAt(cluster.node(fault.target()), fault.kind());
      case ORIGIN -> victims.origin().become("well");
      case NETWORK -> cluster.node(fault.target()).host().heal();
      case STATE -> victims.disk().repair();
      case CLOCK -> victims.clocks().set(fault.target(), Duration.ZERO);
      case MACHINE -> Files.deleteIfExists(pressure.resolve("taken"));
      case CONTENT, READER -> {
        // Done at once.
      }
    }
  }

  private void beginAt(Node node, FaultKind kind) {
    switch (kind) {
      case DAEMON_KILLED -> node.mount().signalAny(Posix.SIGKILL);
      case DAEMON_STOPPED -> node.mount().signalAny(Posix.SIGSTOP);
      case DAEMON_RESTARTED -> sandbox.holdfast("restart", node.mount().name()).mustSucceed();
      case NODE_KILLED -> node.mount().kill();
      default -> throw new IllegalArgumentException(kind.toString());
    }
  }

  private void endAt(Node node, FaultKind kind) {
    switch (kind) {
      case DAEMON_STOPPED -> node.mount().signalAny(Posix.SIGCONT);
      case NODE_KILLED -> mountAgain(node);
      default -> node.mount().findAgain(START);
    }
  }

  /**
   * Mounts a node again. Waits if something hinders the mount for a moment, such as an origin with
   * errors.
   */
  private void mountAgain(Node node) {
    Mount mount = node.mount();
    long until = System.nanoTime() + START.toNanos();
    while (true) {
      Child.Result umount = mount.umount();
      try {
        if (mount.isMounted()) {
          throw new AssertionError("still mounted: " + umount);
        }
        cluster.restartAlone(node);
        return;
      } catch (AssertionError e) {
        if (System.nanoTime() - until > 0) {
          throw e;
        }
      }
    }
  }

  private static String mode(FaultKind kind, int amount) {
    return switch (kind) {
      case ORIGIN_ERRORS -> "errors " + (10 + amount * 9 / 10);
      case ORIGIN_STALLED -> "stalled";
      case ORIGIN_SLOW -> "slow " + (5 + amount);
      case ORIGIN_SHORT -> "short " + (10 + amount * 9 / 10);
      default -> throw new IllegalArgumentException(kind.toString());
    };
  }

  private static void disturb(Host host, Schedule.Planned fault) {
    switch (fault.kind()) {
      case PEER_CUT -> host.cut();
      case PEER_DEAF -> host.cutIncoming();
      case PEER_MUTE -> host.cutOutgoing();
      case PEER_LOSES_PACKETS -> host.lose(5 + fault.amount() / 3);
      case PEER_RESETS -> host.reset(20 + fault.amount());
      default -> throw new IllegalArgumentException(fault.toString());
    }
  }

  private static void beginAt(FailingDisk disk, FaultKind kind) {
    if (kind == FaultKind.STATE_DIRECTORY_FULL) {
      disk.fill();
    } else {
      disk.fail();
    }
  }

  /** Seconds to hours, forwards and backwards. */
  private static Duration offset(int amount) {
    long seconds = 1 + (long) amount * amount;
    return Duration.ofSeconds(amount % 2 == 0 ? seconds : -seconds);
  }

  private void press(Schedule.Planned fault) {
    if (fault.kind() == FaultKind.CACHES_DROPPED) {
      Machine.dropCaches(1 + fault.amount() % 3);
      return;
    }
    String size = (256 + 8 * fault.amount()) + "M";
    String file = pressure.resolve("taken").toString();
    sandbox.command("fallocate", "-l", size, file).mustSucceed();
  }

  /** Waits until a time of the schedule. */
  static void waitUntil(long nanos) {
    Await.holdsWithin(Duration.ofNanos(Math.max(0, nanos - System.nanoTime())), () -> false);
  }
}
