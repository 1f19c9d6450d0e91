package io.holdfast.fs.residency;

import io.holdfast.fs.ItemKey;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Outcome;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The resident items: the policy, and the residents that it has admitted.
 *
 * <p>Thread-safe. {@link #lock} guards the policy and keeps the residents equal to the policy's. It
 * is a leaf lock: only the policy, the index of residents and the log are called under it.
 */
final class ResidentSet {
  private final ReentrantLock lock = new ReentrantLock();
  private final CachePolicy policy;
  private final ResidentLog log;
  private final ResidentIndex residents = new ResidentIndex();
  private final Handles handles = new Handles();

  /** Whether the policy may have evicted residents that are still here, because a step failed. */
  private boolean behind;

  ResidentSet(CachePolicy policy, ResidentLog log) {
    this.policy = policy;
    this.log = log;
  }

  /** The residents' sums at one moment. */
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
   * Asks the policy to admit an item. Refuses if another thread has just admitted the same item.
   *
   * @param kept whether a user wants the item to stay, whatever the policy decides
   * @param givenUp takes the evicted residents, also where this fails
   * @return whether the item is resident from now on
   */
  boolean admit(Resident resident, boolean kept, long weight, List<Resident> givenUp) {
    ItemKey key = resident.item().key();
    long hash = Residency.hash(resident.item());
    lock.lock();
    try {
      if (residents.get(key) != null) {
        return false;
      }
      handles.makeRoom(); // before the policy counts the item
      long id = handles.next();
      boolean done = false;
      try {
        Outcome outcome = kept ? policy.keep(id, weight) : policy.offer(id, hash, weight);
        exchange(outcome.evicted(), givenUp, outcome.admitted() ? resident : null, id);
        done = true;
        return outcome.admitted();
      } finally {
        if (!done) {
          undo(resident, id);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Asks the policy to admit an item in the place of a resident.
   *
   * @param givenUp takes the evicted resident, also where this fails
   * @return whether the item is resident from now on; if not, nothing has changed
   */
  boolean swap(Resident resident, ItemKey victim, long weight, List<Resident> givenUp) {
    ItemKey key = resident.item().key();
    long hash = Residency.hash(resident.item());
    lock.lock();
    try {
      Resident evictee = residents.get(victim);
      if (evictee == null || residents.get(key) != null) {
        return false;
      }
      handles.makeRoom(); // before the policy counts the item
      long id = handles.next();
      long[] evicted = {evictee.handle};
      boolean done = false;
      try {
        boolean swaps = policy.swap(id, hash, weight, evictee.handle);
        if (swaps) {
          exchange(evicted, givenUp, resident, id);
        }
        done = true;
        return swaps;
      } finally {
        if (!done) {
          undo(resident, id);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Does as the policy has decided.
   *
   * @param newcomer the resident that the policy has admitted under a number; null for none
   */
  private void exchange(
      long[] evicted, List<Resident> givenUp, @Nullable Resident newcomer, long id) {
    takeOut(evicted, givenUp);
    if (newcomer != null) {
      add(newcomer, id);
    }
  }

  /**
   * Undoes an admission that has failed midway, as with a full heap: the newcomer is not resident,
   * for the policy neither.
   */
  private void undo(Resident newcomer, long id) {
    behind = true;
    policy.remove(id);
    handles.remove(id);
    residents.remove(newcomer);
  }

  private void add(Resident resident, long id) {
    resident.handle = id;
    handles.add(id, resident);
    residents.add(resident);
    log.admitted(resident.item().key());
  }

  private void takeOut(long[] ids, List<Resident> givenUp) {
    for (long id : ids) {
      takeOut(id, givenUp);
    }
  }

  /** Takes a resident out. Where that fails, {@link #catchUp} does it; it is given up once. */
  private void takeOut(long id, List<Resident> givenUp) {
    Resident evictee = handles.get(id);
    if (evictee != null) {
      residents.remove(evictee);
      givenUp.add(evictee);
      handles.remove(id); // last of what catchUp needs, and it cannot fail
      log.released(evictee.item().key());
    }
  }

  /**
   * Takes out residents that the policy has evicted before a step failed. Until then they are in
   * memory beside those that the policy counts.
   *
   * @param givenUp takes the evicted residents, also where this fails
   * @param most how many at most
   */
  void catchUp(List<Resident> givenUp, int most) {
    lock.lock();
    try {
      takeOutEvicted(givenUp, most);
    } finally {
      lock.unlock();
    }
  }

  private void takeOutEvicted(List<Resident> givenUp, int most) {
    if (behind) {
      handles.forEach(
          id -> {
            if (!policy.contains(id)) {
              takeOut(id, givenUp);
            }
            return givenUp.size() < most;
          });
      behind = givenUp.size() >= most;
    }
  }

  /**
   * Replaces a resident by another one of the same item; returns false where it is no longer
   * resident.
   */
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

  /** Removes a resident; returns false where it is no longer resident. */
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

  /** Exempts a resident from eviction; returns false where there is no such resident or no room. */
  boolean keep(ItemKey item, long weight) {
    lock.lock();
    try {
      Resident there = residents.get(item);
      return there != null
          && policy.contains(there.handle)
          && policy.keep(there.handle, weight).admitted();
    } finally {
      lock.unlock();
    }
  }

  /** Lets the policy evict a resident again; returns false where it already may. */
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
   * @param givenUp takes the evicted residents, also where this fails
   */
  void resize(long capacity, List<Resident> givenUp) {
    lock.lock();
    try {
      takeOutEvicted(givenUp, Integer.MAX_VALUE);
      behind = true;
      takeOut(policy.resize(capacity), givenUp);
      behind = false;
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
