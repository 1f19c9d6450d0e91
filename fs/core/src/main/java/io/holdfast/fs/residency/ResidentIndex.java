package io.holdfast.fs.residency;

import io.holdfast.fs.ItemKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Finds a resident by its item, and the residents of a file, in time that does not depend on the
 * file's size. Readers need no lock; one thread at a time changes the index.
 */
final class ResidentIndex {
  private final ConcurrentHashMap<Long, FileResidents> byNode = new ConcurrentHashMap<>();
  private final AtomicInteger count = new AtomicInteger();

  @Nullable Resident get(ItemKey key) {
    FileResidents residents = byNode.get(key.node());
    return residents == null ? null : residents.at(key.extent());
  }

  int size() {
    return count.get();
  }

  List<Long> nodes() {
    return List.copyOf(byNode.keySet());
  }

  /** Returns the residents of a file. */
  Collection<Resident> of(long node) {
    FileResidents residents = byNode.get(node);
    return residents == null ? List.of() : residents.all();
  }

  List<Resident> all() {
    List<Resident> all = new ArrayList<>(size());
    byNode.values().forEach(residents -> all.addAll(residents.all()));
    return all;
  }

  /** Adds a resident; its item must not have one. */
  void add(Resident resident) {
    put(resident);
    count.incrementAndGet();
  }

  /** Replaces a resident; returns false where it is not in the index. */
  boolean replace(Resident before, Resident now) {
    boolean there = get(before.item().key()) == before;
    if (there) {
      put(now);
    }
    return there;
  }

  private void put(Resident resident) {
    byNode.compute(resident.item().node(), (node, others) -> FileResidents.with(others, resident));
  }

  /** Removes a resident; returns false where it is not in the index. */
  boolean remove(Resident resident) {
    boolean there = get(resident.item().key()) == resident;
    if (there) {
      byNode.computeIfPresent(
          resident.item().node(), (node, all) -> FileResidents.without(all, resident));
      count.decrementAndGet();
    }
    return there;
  }
}
