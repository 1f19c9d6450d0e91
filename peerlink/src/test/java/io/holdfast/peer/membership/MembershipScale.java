package io.holdfast.peer.membership;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jgroups.protocols.TCP;

/** Measures what membership costs when nothing happens; run by hand with a number of nodes. */
final class MembershipScale {
  private static final long WATCHED_SECONDS = 20;

  private MembershipScale() {}

  /** Prints the figures. */
  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[0]);
    int[] nodes = IntStream.rangeClosed(1, count).toArray();
    try (Cluster cluster = new Cluster()) {
      List<JGroupsMembership> all = new ArrayList<>();
      long start = System.nanoTime();
      for (int each : nodes) {
        all.add(cluster.join(each, cluster.named(1, 2, 3)));
      }
      for (JGroupsMembership each : all) {
        Cluster.until(() -> each.view().nodes().size() == count, () -> "all are there");
      }
      double joined = (System.nanoTime() - start) / 1e9;
      // connections of the time of joining go away first
      TimeUnit.SECONDS.sleep(WATCHED_SECONDS);
      double cpu = cpuSeconds();
      TimeUnit.SECONDS.sleep(WATCHED_SECONDS);
      System.out.printf(
          Locale.ROOT,
          "%d nodes: joined in %.1f s; a node: %.1f connections, %.0f threads, %.2f %% of a core; "
              + "an address in a view: %d bytes%n",
          count,
          joined,
          all.stream().mapToInt(each -> transport(each).getOpenConnections()).average().orElse(0),
          (double) Thread.activeCount() / count,
          100 * (cpuSeconds() - cpu) / WATCHED_SECONDS / count,
          all.get(0).channel().getAddress().serializedSize());
    }
    System.exit(0);
  }

  private static TCP transport(JGroupsMembership member) {
    return (TCP) member.channel().getProtocolStack().getTransport();
  }

  private static double cpuSeconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        / 1e9;
  }
}
