package io.holdfast.fs.allocate.node;

import io.holdfast.fs.FsException;
import io.holdfast.fs.allocate.Allocation;
import io.holdfast.fs.allocate.NodeAllocation;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.RunningDaemon;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tells each daemon its part of an allocation, so that whoever looks at a mount sees it. A daemon
 * that does not take it goes without. Stateless.
 */
public final class AllocationNews {
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  private AllocationNews() {}

  /**
   * Tells all daemons that have answered.
   *
   * @param changed names of mounts whose capacity was just set
   */
  public static void tell(NodeAllocation node, List<NodeMounts.Look> looks, Set<String> changed) {
    Map<String, NodeAllocation.Proposal> proposals = new HashMap<>();
    node.proposals().forEach(each -> proposals.put(each.mount().name(), each));
    for (NodeMounts.Look look : looks) {
      RunningDaemon daemon = look.daemon();
      if (daemon != null && look.figures() != null) {
        String name = look.mount().name();
        Map<String, Object> news = new HashMap<>();
        news.put("budget_bytes", node.budget());
        NodeAllocation.Proposal proposal = proposals.get(name);
        // a mount that cannot be judged is to keep what it has
        news.put("proposed_bytes", proposal == null ? look.mount().capacity() : proposal.bytes());
        Allocation.Share share = proposal == null ? null : proposal.share();
        if (share != null) {
          news.put("fair_share_bytes", share.capacities().fair());
        }
        news.put("changed", changed.contains(name));
        tell(daemon, news);
      }
    }
  }

  private static void tell(RunningDaemon daemon, Map<String, Object> news) {
    try {
      new ControlClient(daemon.socket(), DEADLINE).allocation(news);
    } catch (FsException e) {
      // it has ended, or is of another version: the next look says so
      return;
    }
  }
}
