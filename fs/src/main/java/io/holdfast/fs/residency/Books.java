package io.holdfast.fs.residency;

import io.holdfast.fs.ItemKey;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Outcome;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Who is resident: the policy, and the residents that it has admitted.
 *
 * <p>Thread-safe. {@link #lock} guards the policy, and that the residents are those of the policy.
 * It is a leaf: nothing is called under it but the policy, the map of residents and the log.
 */
final class Books {
  private final ReentrantLock lock = new ReentrantLock();
  private final CachePolicy policy;
  private final ResidentLog log;
  private final ResidentIndex residents = new ResidentIndex();
  private final Handles handles = new Handles();

  Books(CachePolicy policy, ResidentLog log) {
    this.policy = policy;
    this.log = log;
  }

  /** What the residents take at one moment. */
  record Sums(long capacity, long bytes, long items, long keptBytes, long keptItems) {
    long free() {
      return capacity - bytes;
    }
  }

  Sums sums() {
    lock.lock();
    try {
      return new Sums(
          policy.capacity(),
          policy.residentBytes(),
          policy.residentItems(),
          policy.keptBytes(),
          policy.keptItems());
    } finally {
      lock.unlock();
    }
  }

  @Nullable Resident get(ItemKey item) {
    return residents.get(item);
  }

  boolean contains(ItemKey item) {
    return residents.get(item) != null;
  }

  int size() {
    return residents.size();
  }

  List<Resident> all() {
    return residents.all();
  }

  List<Long> nodes() {
    return residents.nodes();
  }

  /** Returns the residents of a file. */
  Collection<Resident> of(long node) {
    return residents.of(node);
  }

  boolean wouldAdmit(ItemKey item, long hash, long weight) {
    lock.lock();
    try {
      Resident there = residents.get(item);
      return policy.wouldAdmit(there == null ? handles.next() : there.handle, hash, weight);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Asks the policy for an item; unless another has been admitted for it in the same moment, which
   * stays.
   *
   * @param kept whether a user wants it to stay, whatever the policy thinks
   * @param givenUp takes those that make way; they are no residents any more
   * @return whether it is resident from now on
   */
  boolean admit(Resident resident, boolean kept, long weight, List<Resident> givenUp) {
    ItemKey key = resident.item().key();
    long hash = Residency.hash(resident.item());
    lock.lock();
    try {
      if (residents.get(key) != null) {
        return false;
      }
      long id = handles.next();
      Outcome outcome = kept ? policy.keep(id, weight) : policy.offer(id, hash, weight);
      takeOut(outcome.evicted(), givenUp);
      if (outcome.admitted()) {
        resident.handle = id;
        handles.add(id, resident);
        residents.add(resident);
        log.admitted(key);
      }
      return outcome.admitted();
    } finally {
      lock.unlock();
    }
  }

  private void takeOut(long[] ids, List<Resident> givenUp) {
    for (long id : ids) {
      Resident evictee = handles.remove(id);
      if (evictee != null) {
        residents.remove(evictee);
        log.released(evictee.item().key());
        givenUp.add(evictee);
      }
    }
  }

  /** Puts another in the place of a resident; returns false where that is none any more. */
  boolean replace(Resident before, Resident now) {
    lock.lock();
    try {
      boolean replaced = residents.replace(before, now);
      if (replaced) {
        now.handle = before.handle;
        handles.replace(now.handle, now);
      }
      return replaced;
    } finally {
      lock.unlock();
    }
  }

  /** Takes a resident out; returns false where it is none any more. */
  boolean remove(Resident resident) {
    lock.lock();
    try {
      boolean removed = residents.remove(resident);
      if (removed) {
        handles.remove(resident.handle);
        policy.remove(resident.handle);
        log.released(resident.item().key());
      }
      return removed;
    } finally {
      lock.unlock();
    }
  }

  /** Has a resident stay whatever the policy thinks; returns false where it is none. */
  boolean keep(ItemKey item, long weight) {
    lock.lock();
    try {
      Resident there = residents.get(item);
      return there != null && policy.keep(there.handle, weight).admitted();
    } finally {
      lock.unlock();
    }
  }

  /** Leaves a resident to the policy; returns false where it is left to it already. */
  boolean unkeep(ItemKey item, long hash) {
    lock.lock();
    try {
      Resident there = residents.get(item);
      return there != null && policy.unkeep(there.handle, hash);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Changes the capacity.
   *
   * @return those that make way; they are no residents any more
   */
  List<Resident> resize(long capacity) {
    List<Resident> givenUp = new ArrayList<>();
    lock.lock();
    try {
      takeOut(policy.resize(capacity), givenUp);
      return givenUp;
    } finally {
      lock.unlock();
    }
  }

  void datasetSize(long bytes) {
    lock.lock();
    try {
      policy.datasetSize(bytes);
    } finally {
      lock.unlock();
    }
  }

  String policyName() {
    return policy.name();
  }
}
