package io.holdfast.it;

import java.util.ArrayList;
import java.util.List;

/**
 * A host of a {@link Network}: a network namespace with one interface and one address. Its faults
 * are those of the network in front of it; its loopback always works. One fault at a time: the next
 * one takes the place of the one before.
 */
public final class Host {
  public static final String INTERFACE = "eth0";

  private static final String TABLE = "inet faults";
  private static final String INET = " inet";

  private final Sandbox sandbox;
  private final String name;
  private final String address;

  public Host(Sandbox sandbox, String name, String address) {
    this.sandbox = sandbox;
    this.name = name;
    this.address = address;
  }

  public String address() {
    return address;
  }

  /**
   * Returns the command that runs another command on this host. Only the network differs: everybody
   * sees its mounts.
   */
  public List<String> enter() {
    return List.of("nsenter", "--net=/run/netns/" + name);
  }

  /** Drops everything that comes in or goes out. */
  public void cut() {
    filter("drop", "drop");
  }

  /** Drops everything that others send. */
  public void cutIncoming() {
    filter("drop", "");
  }

  /** Drops everything that this host sends. */
  public void cutOutgoing() {
    filter("", "drop");
  }

  /** Drops everything from and to some addresses. */
  public void cutFrom(List<String> addresses) {
    String set = "{ " + String.join(", ", addresses) + " }";
    filter("ip saddr " + set + " drop", "ip daddr " + set + " drop");
  }

  /** Drops packets at random, in each direction. */
  public void lose(int percent) {
    String rule = "numgen random mod 100 < " + percent + " drop";
    filter(rule, rule);
  }

  /** Resets connections at random, at one of so many packets. */
  public void reset(int oneOf) {
    String rule = "meta l4proto tcp numgen random mod " + oneOf + " 0 reject with tcp reset";
    filter(rule, rule);
  }

  /**
   * Has connections from others to one port end at another one. Those that are there already are
   * reset.
   */
  public void redirect(int port, int other) {
    rules(
        "tcp dport " + port + " reject with tcp reset",
        "",
        "tcp dport %d redirect to :%d".formatted(port, other));
  }

  /** Ends the fault. */
  public void heal() {
    filter("", "");
  }

  private void filter(String in, String out) {
    rules(in, out, "");
  }

  private void rules(String in, String out, String destination) {
    run(
        "nft",
        """
        add table %1$s
        delete table %1$s
        table %1$s {
          chain destination {
            type nat hook prerouting priority dstnat;
            iifname != "%2$s" accept
            %5$s
          }
          chain in {
            type filter hook input priority 0;
            iifname != "%2$s" accept
            %3$s
          }
          chain out {
            type filter hook output priority 0;
            oifname != "%2$s" accept
            %4$s
          }
        }\
        """
            .formatted(TABLE, INTERFACE, in, out, destination));
  }

  /** Gives this host one more address, which only it sees; nothing where it has it already. */
  public void addAddress(String more) {
    if (!run("ip", "-o", "addr", "show", "to", more).out().contains(INET)) {
      run("ip", "addr", "add", more, "dev", "lo");
    }
  }

  /** Runs a command here; an error when it does not succeed. */
  public Child.Result run(String... command) {
    return sandbox.command(entered(command)).mustSucceed();
  }

  /** A command, so that it runs here. */
  public String[] entered(String... command) {
    List<String> all = new ArrayList<>(enter());
    all.addAll(List.of(command));
    return all.toArray(String[]::new);
  }

  @Override
  public String toString() {
    return address;
  }
}
