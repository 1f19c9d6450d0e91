package io.holdfast.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The name server of a cluster's hosts, as a headless service has one: a name with every host's
 * address. It is dnsmasq, one process on each host, at the address at which this machine looks for
 * its own name server.
 */
public final class NameServer {
  static final String NAME = "peers.holdfast.test";

  private static final Path RESOLVER = Path.of("/etc/resolv.conf");
  private static final String KEY = "nameserver";
  private static final String LOCALHOST = "127.0.0.1";
  private static final Duration START = Duration.ofSeconds(60);

  private final Sandbox sandbox;
  private final Path records;
  private final String address;

  public NameServer(Sandbox sandbox) {
    this.sandbox = sandbox;
    records = sandbox.folder("name-records").resolve("hosts");
    address = addressOfThisMachines();
  }

  /** Names these hosts, and no others. Servers that run learn of it soon. */
  void name(List<Host> hosts) {
    String lines =
        hosts.stream()
            .map(host -> host.address() + " " + NAME + "\n")
            .collect(Collectors.joining());
    try {
      Files.writeString(records, lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Answers on this host from now on, where nobody is asked but this server. */
  void serve(Host host) {
    host.addAddress(address);
    Child server =
        sandbox.start(
            host.entered(
                "sh",
                "-c",
                "exec dnsmasq --keep-in-foreground --log-facility=- --conf-file=/dev/null"
                    + " --pid-file= --user=root --no-resolv --no-hosts --bind-interfaces"
                    + " --listen-address=%s --hostsdir=%s 2>&1"
                        .formatted(address, records.getParent())));
    server.awaitLine(1, START);
  }

  private static String addressOfThisMachines() {
    try {
      return Files.readString(RESOLVER)
          .lines()
          .map(line -> line.strip().split("\\s+"))
          .filter(words -> words.length > 1 && words[0].equals(KEY))
          .map(words -> words[1])
          .findFirst()
          .orElse(LOCALHOST);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
