package io.holdfast.fs.residency;

import io.holdfast.fs.transit.Item;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
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
  private final ConcurrentHashMap<Long, Resident> residents = new ConcurrentHashMap<>();

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

  @Nullable Resident get(long item) {
    return residents.get(item);
  }

  boolean contains(long item) {
    return residents.containsKey(item);
  }

  int size() {
    return residents.size();
  }

  List<Resident> all() {
    return new ArrayList<>(residents.values());
  }

  List<Long> nodes() {
    return residents.keySet().stream().map(Item::node).distinct().toList();
  }

  boolean wouldAdmit(long id, long hash, long weight) {
    lock.lock();
    try {
      return policy.wouldAdmit(id, hash, weight);
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
    long id = resident.item().id();
    long hash = Residency.hash(resident.item());
    lock.lock();
    try {
      if (residents.containsKey(id)) {
        return false;
      }
      Outcome outcome = kept ? policy.keep(id, weight) : policy.offer(id, hash, weight);
      takeOut(outcome.evicted(), givenUp);
      if (outcome.admitted()) {
        residents.put(id, resident);
        log.admitted(id);
      }
      return outcome.admitted();
    } finally {
      lock.unlock();
    }
  }

  private void takeOut(long[] ids, List<Resident> givenUp) {
    for (long id : ids) {
      Resident evictee = residents.remove(id);
      if (evictee != null) {
        log.released(id);
        givenUp.add(evictee);
      }
    }
  }

  /** Puts another in the place of a resident; returns false where that is none any more. */
  boolean replace(Resident before, Resident now) {
    return residents.replace(now.item().id(), before, now);
  }

  /** Takes a resident out; returns false where it is none any more. */
  boolean remove(Resident resident) {
    long id = resident.item().id();
    lock.lock();
    try {
      boolean removed = residents.remove(id, resident);
      if (removed) {
        policy.remove(id);
        log.released(id);
      }
      return removed;
    } finally {
      lock.unlock();
    }
  }

  /** Has a resident stay whatever the policy thinks; returns false where it is none. */
  boolean keep(long id, long weight) {
    lock.lock();
    try {
      return residents.containsKey(id) && policy.keep(id, weight).admitted();
    } finally {
      lock.unlock();
    }
  }

  /** Leaves a resident to the policy; returns false where it is left to it already. */
  boolean unkeep(long id, long hash) {
    lock.lock();
    try {
      return policy.unkeep(id, hash);
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
