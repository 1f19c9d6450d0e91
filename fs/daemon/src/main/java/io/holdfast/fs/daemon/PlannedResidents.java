package io.holdfast.fs.daemon;

import io.holdfast.fs.plan.PlanParts;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import java.util.function.Consumer;

/** The residents, as a plan of several nodes needs them. Thread-safe. */
record PlannedResidents(Residency residency) implements PlanParts.Residents {
  @Override
  public long weight(Item item) {
    return Residency.weight(item.length());
  }

  @Override
  public long capacity() {
    return residency.figures().capacityBytes();
  }

  @Override
  public long bytes() {
    return residency.figures().residentBytes();
  }

  @Override
  public void forEach(Consumer<Item> taker) {
    residency.forEachResident(taker);
  }

  @Override
  public boolean has(Item item) {
    return residency.isResident(item);
  }

  @Override
  public void release(Item item) {
    residency.cede(item);
  }
}
