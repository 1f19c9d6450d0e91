package io.holdfast.fs.allocate;

import java.util.LinkedHashMap;
import java.util.Map;

/** An allocation as an object for programs, whose keys are those of a plan where both have them. */
public final class AllocationJson {
  private AllocationJson() {}

  /** Returns the object. */
  public static Map<String, Object> of(Allocation allocation) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("objective", allocation.objective().word());
    object.put(PlanReader.BUDGET, allocation.budget());
    object.put("unallocated_bytes", allocation.unallocated());
    object.put(PlanReader.MOUNTS, allocation.mounts().stream().map(AllocationJson::mount).toList());
    return object;
  }

  static Map<String, Object> mount(Allocation.Share share) {
    PlannedMount mount = share.mount();
    Rates rates = mount.rates();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put(PlanReader.NAME, mount.name());
    object.put(PlanReader.DATASET, mount.dataset());
    object.put(PlanReader.CAPACITY, mount.capacity().now());
    object.put("fair_share_bytes", share.capacities().fair());
    object.put("proposed_bytes", share.capacities().proposed());
    object.put("sufficient_bytes", share.capacities().sufficient());
    object.put(PlanReader.DEMAND, rates.demand());
    object.put(PlanReader.MEMORY_RATE, rates.memory());
    object.put(PlanReader.ORIGIN_RATE, rates.origin());
    OriginShare origin = rates.share();
    if (origin != null) {
      object.put(PlanReader.ORIGIN, origin.name());
      object.put(PlanReader.READERS, origin.readers());
      object.put("origin_share_bytes_per_second", share.originRate());
    }
    object.put("speed_now", share.speeds().now());
    object.put("speed_fair_share", share.speeds().fair());
    object.put("speed_proposed", share.speeds().proposed());
    object.put("bound_by", share.explanation().boundBy().word());
    object.put("reason", share.explanation().reason());
    return object;
  }
}
