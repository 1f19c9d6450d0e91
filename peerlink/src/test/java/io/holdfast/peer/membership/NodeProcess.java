package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A node in a process of its own, which can be killed; it prints each of its views. */
final class NodeProcess implements AutoCloseable {
  private final Process process;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  /** Runs a node until its standard input ends. */
  public static void main(String[] args) throws Exception {
    NodeAddress address = NodeAddress.parse(args[0]);
    ClusterNode self = new ClusterNode(address, Cluster.DATASET, Long.parseLong(args[1]));
    try (JGroupsMembership membership =
        JGroupsMembership.join(
            new JGroupsMembership.Config(
                self,
                address.at(address.port() + 1),
                Discovery.parse(args[2]),
                Cluster.bySecret(Cluster.SECRET),
                1))) {
      membership.listen(
          view ->
              System.out.println(
                  String.join(
                      " ", view.nodes().stream().map(each -> each.address().toString()).toList())));
      int ended = System.in.read();
      System.exit(Math.min(ended, 0));
    }
  }

  /** Starts a node with options for its Java. */
  NodeProcess(ClusterNode node, Discovery discovery, String... options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.add("-Xmx128m");
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(NodeProcess.class.getName());
    command.add(node.address().toString());
    command.add(Long.toString(node.capacityBytes()));
    command.add(discovery.toString());
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    Thread reader = new DaemonThreads("node-output").newThread(this::read);
    reader.start();
  }

  private void read() {
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      lines.add(e.toString());
    }
  }

  /** Waits for a view of exactly these. */
  void assertSees(NodeAddress... addresses) {
    String wanted = String.join(" ", Arrays.stream(addresses).map(NodeAddress::toString).toList());
    Cluster.until(() -> lines.contains(wanted), () -> wanted + ", but " + lines);
  }

  /** Kills it, as {@code kill -9} does. */
  void kill() {
    process.destroyForcibly();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }

  @Override
  public void close() {
    kill();
  }
}
