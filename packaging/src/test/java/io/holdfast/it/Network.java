package io.holdfast.it;

import io.holdfast.posix.Posix;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Some {@link Host}s and what joins them: a bridge in a network namespace of its own, to which each
 * host has a pair of virtual interfaces. None of it touches the machine's own network. Goes with
 * its sandbox; what test runs left that were killed goes when the next network is made.
 */
public final class Network {
  private static final Path NAMESPACES = Path.of("/run/netns");
  private static final Pattern NAME = Pattern.compile("it(\\d+)x\\d+-(net|h\\d+)");

  private final Sandbox sandbox;
  private final String bridge;
  private final List<Host> hosts = new ArrayList<>();

  private Network(Sandbox sandbox) {
    this.sandbox = sandbox;
    bridge = sandbox.id() + "-net";
  }

  public static Network create(Sandbox sandbox) {
    removeLeftovers(sandbox);
    Network network = new Network(sandbox);
    network.add(network.bridge);
    network.ip(network.bridge, "link add br0 type bridge");
    network.ip(network.bridge, "link set br0 up");
    return network;
  }

  /** One more host, with the next address. */
  public Host addHost() {
    int number = hosts.size() + 1;
    String name = sandbox.id() + "-h" + number;
    add(name);
    Host host = new Host(sandbox, name, "10.77.0." + number);
    hosts.add(host);
    String port = "port" + number;
    String device = Host.INTERFACE;
    ip(name, "link add " + device + " type veth peer name " + port + " netns " + bridge);
    ip(bridge, "link set " + port + " master br0 up");
    ip(name, "addr add " + host.address() + "/24 dev " + device);
    ip(name, "link set lo up");
    ip(name, "link set " + device + " up");
    return host;
  }

  /** Separates some hosts from all others, in both directions. */
  public void partition(List<Host> some) {
    List<String> others =
        hosts.stream().filter(host -> !some.contains(host)).map(Host::address).toList();
    some.forEach(host -> host.cutFrom(others));
  }

  public void heal() {
    hosts.forEach(Host::heal);
  }

  private void add(String namespace) {
    sandbox.command("ip", "netns", "add", namespace).mustSucceed();
    sandbox.atEnd(() -> remove(sandbox, namespace));
  }

  private void ip(String namespace, String command) {
    List<String> words = new ArrayList<>(List.of("ip", "-n", namespace));
    words.addAll(List.of(command.split(" ", -1)));
    sandbox.command(words.toArray(String[]::new)).mustSucceed();
  }

  private static void remove(Sandbox sandbox, String namespace) {
    sandbox.command("ip", "netns", "del", namespace);
  }

  private static void removeLeftovers(Sandbox sandbox) {
    String[] names = NAMESPACES.toFile().list();
    for (String name : names == null ? new String[0] : names) {
      Matcher match = NAME.matcher(name);
      if (match.matches() && ProcessHandle.of(Long.parseLong(match.group(1))).isEmpty()) {
        sandbox
            .command("ip", "netns", "pids", name)
            .out()
            .lines()
            .forEach(pid -> Posix.kill(Long.parseLong(pid), Posix.SIGKILL));
        remove(sandbox, name);
      }
    }
  }
}
