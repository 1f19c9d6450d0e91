package io.holdfast.peer;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The address at which a node listens for peers. It is also the node's name: the same in every
 * view, before and after a restart. Immutable.
 *
 * @param host a host name, an IPv4 address, or an IPv6 address without brackets
 * @param port port of the data plane, 1 to 65535
 */
public record NodeAddress(String host, int port) implements Comparable<NodeAddress> {
  private static final int LARGEST_PORT = 65535;

  /** Names come from peers, and go to logs and terminals: no other characters are allowed. */
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._:%\\[\\]-]{1,253}");

  /** Checks the parts. */
  public NodeAddress {
    if (!HOST.matcher(host).matches() || port < 1 || port > LARGEST_PORT) {
      throw new IllegalArgumentException(
          "no host and port of letters, digits and . _ : %% - [ ]: %d letters and port %d"
              .formatted(host.length(), port));
    }
  }

  /**
   * Parses {@code HOST:PORT}, or {@code [IPV6]:PORT}.
   *
   * @throws IllegalArgumentException where the text is no address, with a message for the user
   */
  public static NodeAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      String host = text.substring(0, Math.max(0, colon));
      boolean bracketed = host.startsWith("[") && host.endsWith("]");
      if (bracketed || host.indexOf(':') < 0) {
        return new NodeAddress(bracketed ? host.substring(1, host.length() - 1) : host, port);
      }
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException(notAnAddress(text), e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(notAnAddress(text), e);
    }
    throw new IllegalArgumentException(notAnAddress(text));
  }

  private static String notAnAddress(String text) {
    return "'" + text + "' is no address: write HOST:PORT, such as node1:7070 or [::1]:7070";
  }

  /** Returns the same host at another port. */
  public NodeAddress at(int otherPort) {
    return new NodeAddress(host, otherPort);
  }

  /** Resolves the host; the result is unresolved where the host is unknown. May wait for DNS. */
  public InetSocketAddress resolve() {
    return new InetSocketAddress(host, port);
  }

  /** Returns a hash that is uniform over all longs and the same on every node. */
  public long hash() {
    return Rendezvous.hash(toString().getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public int compareTo(NodeAddress other) {
    int byHost = host.compareTo(other.host);
    return byHost != 0 ? byHost : Integer.compare(port, other.port);
  }

  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
