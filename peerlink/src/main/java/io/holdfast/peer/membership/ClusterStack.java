package io.holdfast.peer.membership;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.jgroups.JChannel;
import org.jgroups.logging.LogFactory;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FILE_PING;
import org.jgroups.protocols.FRAG2;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.DiagnosticsHandler;
import org.jgroups.util.SocketFactory;
import org.jgroups.util.ThreadFactory;

/**
 * The JGroups protocols that Holdfast uses, and their settings. Only the transport opens sockets:
 * there are no diagnostics, and no separate connections for failure detection. A member whose
 * process ends is detected when its connections close; a silent member, by missing heartbeats.
 */
final class ClusterStack {
  /** The time for a host to accept a connection. */
  static final Duration CONNECT = Duration.ofSeconds(1);

  private static final int HEARTBEAT_MILLIS = 1500;
  private static final int SILENCE_MILLIS = 6000;
  private static final int VERIFY_MILLIS = 1000;
  private static final int MERGE_MIN_MILLIS = 1000;
  private static final int MERGE_MAX_MILLIS = 3000;
  private static final int JOIN_MILLIS = 1500;
  private static final int JOIN_ATTEMPTS = 10;

  /**
   * Files may name coordinators that are long gone; then merging is faster than waiting for them.
   */
  private static final int JOIN_ATTEMPTS_BY_FILES = 2;

  /** A peer that starts at the same time may not listen yet at the first attempt. */
  private static final int ASKS_IN_A_JOIN = 3;

  private static final int LEAVE_MILLIS = 1000;
  private static final int FRAGMENT_BYTES = 60_000;

  /** Most bytes of a message, or of several messages in one frame. */
  static final int LONGEST_MESSAGE_BYTES = 4 << 20;

  private static final int REAPER_MILLIS = 60_000;
  private static final int IDLE_MILLIS = 300_000;

  /** Name of the group, and of the folder within a shared directory. */
  static final String GROUP = "holdfast";

  static {
    QuietLog.install();
    KnownTypes.install();
  }

  private ClusterStack() {}

  /**
   * Creates a channel that is not connected yet.
   *
   * @param at the address of the membership plane
   * @param sockets creates every socket
   * @param finder finds the first members
   */
  static JChannel channel(
      InetSocketAddress at, SocketFactory sockets, org.jgroups.protocols.Discovery finder)
      throws Exception {
    finder.numDiscoveryRuns(ASKS_IN_A_JOIN);
    finder.returnEntireCache(true);
    return new JChannel(
        transport(at, sockets),
        finder,
        new SteadyMerge(System::nanoTime)
            .setMinInterval(MERGE_MIN_MILLIS)
            .setMaxInterval(MERGE_MAX_MILLIS),
        new FD_ALL3().setInterval(HEARTBEAT_MILLIS).setTimeout(SILENCE_MILLIS),
        new VERIFY_SUSPECT2().setTimeout(VERIFY_MILLIS),
        new NAKACK2().useMcastXmit(false),
        new UNICAST3(),
        new STABLE(),
        new GMS()
            .setJoinTimeout(JOIN_MILLIS)
            .setMaxJoinAttempts(
                finder instanceof FILE_PING ? JOIN_ATTEMPTS_BY_FILES : JOIN_ATTEMPTS)
            .setLeaveTimeout(LEAVE_MILLIS)
            .printLocalAddress(false),
        new FRAG2().setFragSize(FRAGMENT_BYTES));
  }

  private static TCP transport(InetSocketAddress at, SocketFactory sockets) throws Exception {
    ThreadFactory threads = new MembershipThreads();
    TCP transport = new TCP();
    transport
        .logAcceptError(false)
        .setSockConnTimeout(Math.toIntExact(CONNECT.toMillis()))
        .setMaxLength(LONGEST_MESSAGE_BYTES)
        .tcpNodelay(true)
        .deferClientBindAddr(true)
        .enableSuspectEvents(true)
        .logDetails(false)
        .setReaperInterval(REAPER_MILLIS)
        .setConnExpireTime(IDLE_MILLIS);
    transport.setBindAddress(at.getAddress());
    transport.setBindPort(at.getPort());
    transport.setPortRange(0);
    transport.setThreadFactory(threads);
    transport.setSocketFactory(sockets);
    transport.setDiagnosticsHandler(
        new DiagnosticsHandler(LogFactory.getLog(DiagnosticsHandler.class), sockets, threads)
            .setEnabled(false));
    return transport;
  }
}
