package io.holdfast.fs.allocate;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The proposal for the mounts of a node, as an object for programs. Stateless. */
public final class NodeAllocationJson {
  private NodeAllocationJson() {}

  /** Returns the object. What is not known has no key. */
  public static Map<String, @Nullable Object> of(NodeAllocation node) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    long proposed = 0;
    for (NodeAllocation.Proposal proposal : node.proposals()) {
      proposed += proposal.bytes();
    }
    object.put("objective", node.objective().word());
    object.put(PlanReader.BUDGET, node.budget());
    object.put(
        "unallocated_bytes",
        Math.max(0, node.budget() - proposed - NodeAllocation.total(node.left())));
    object.put(
        PlanReader.MOUNTS, node.proposals().stream().map(NodeAllocationJson::mount).toList());
    object.put("left", node.left().stream().map(NodeAllocationJson::left).toList());
    return object;
  }

  private static Map<String, Object> mount(NodeAllocation.Proposal proposal) {
    Map<String, Object> object = new LinkedHashMap<>();
    if (proposal.share() == null) {
      object.put(PlanReader.NAME, proposal.mount().name());
      object.put(PlanReader.CAPACITY, proposal.mount().capacity());
      object.put("bound_by", "unknown");
    } else {
      object.putAll(AllocationJson.mount(proposal.share()));
      if (proposal.share().mount().rates().memory() == PlanReader.MOST_RATE) {
        object.remove(PlanReader.MEMORY_RATE);
      }
      if (proposal.share().mount().rates().demand() == PlanReader.MOST_RATE) {
        object.remove(PlanReader.DEMAND);
      }
    }
    object.put("proposed_bytes", proposal.bytes());
    object.put("reason", proposal.reason());
    return object;
  }

  private static Map<String, Object> left(FoundMount mount) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put(PlanReader.NAME, mount.name());
    object.put(PlanReader.CAPACITY, mount.capacity());
    object.put("reason", mount.reason());
    return object;
  }
}
