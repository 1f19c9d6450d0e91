package io.holdfast.policy;

import java.util.Arrays;

/**
 * A policy made of an {@link Admission} and an {@link Eviction}. MinIO's cache is the pair (always,
 * never), LRU would be (always, least recently used), and so on; the bookkeeping is the same for
 * all and is done here.
 *
 * <p>An item gets in if admission finds it worth it and it fits: into what is free, or, if
 * residents make way for newcomers, into the capacity. One that is refused leaves everything as it
 * was.
 *
 * <p>Cost: one probe of the {@link ResidentTable} a call, and 20 to 40 bytes a resident.
 */
final class ComposedPolicy implements CachePolicy {

  private static final long[] NOBODY = new long[0];

  private final String name;
  private final Admission admission;
  private final Eviction eviction;
  private final ResidentTable residents = new ResidentTable();
  private long capacity;
  private long residentBytes;

  ComposedPolicy(String name, long capacity, Admission admission, Eviction eviction) {
    this.name = name;
    this.admission = admission;
    this.eviction = eviction;
    this.capacity = requireCapacity(capacity);
    admission.resized(capacity);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public long capacity() {
    return capacity;
  }

  @Override
  public long residentBytes() {
    return residentBytes;
  }

  @Override
  public long residentItems() {
    return residents.size();
  }

  @Override
  public boolean contains(long id) {
    return residents.weight(id) != ResidentTable.ABSENT;
  }

  @Override
  public boolean wouldAdmit(long id, long hash, long weight) {
    return fits(requireWeight(weight)) && admission.admits(id, hash, weight);
  }

  @Override
  public Outcome offer(long id, long hash, long weight) {
    long present = residents.weight(id);
    if (present != ResidentTable.ABSENT) {
      if (present != weight) {
        throw new IllegalArgumentException(
            "item %d is resident with weight %d, offered with %d".formatted(id, present, weight));
      }
      return Outcome.ADMITTED;
    }
    if (!wouldAdmit(id, hash, weight)) {
      return Outcome.REFUSED;
    }
    long[] evicted = giveUpUntilAtMost(capacity - weight);
    residents.add(id, weight);
    residentBytes += weight;
    eviction.admitted(id, hash, weight);
    return Outcome.admittedFor(evicted);
  }

  @Override
  public void access(long id) {
    admission.accessed(id);
    if (contains(id)) {
      eviction.accessed(id);
    }
  }

  @Override
  public boolean remove(long id) {
    long weight = residents.remove(id);
    if (weight == ResidentTable.ABSENT) {
      return false;
    }
    residentBytes -= weight;
    eviction.removed(id);
    return true;
  }

  @Override
  public long[] resize(long newCapacity) {
    capacity = requireCapacity(newCapacity);
    admission.resized(newCapacity);
    return giveUpUntilAtMost(newCapacity);
  }

  @Override
  public void check() {
    long recomputed = residents.checkedTotalWeight();
    if (recomputed != residentBytes) {
      throw new IllegalStateException(
          "%s: residents weigh %d, tracked are %d".formatted(name, recomputed, residentBytes));
    }
    if (residentBytes > capacity) {
      throw new IllegalStateException(
          "%s: residents weigh %d, the capacity is %d".formatted(name, residentBytes, capacity));
    }
    eviction.check(residents);
  }

  @Override
  public String toString() {
    return "%s: %d items, %d of %d bytes".formatted(name, residentItems(), residentBytes, capacity);
  }

  private boolean fits(long weight) {
    long room = eviction.replaces() ? capacity : capacity - residentBytes;
    return weight <= room;
  }

  private long[] giveUpUntilAtMost(long bytes) {
    if (residentBytes <= bytes) {
      return NOBODY;
    }
    long[] givenUp = new long[8];
    int count = 0;
    while (residentBytes > bytes) {
      long victim = eviction.victim(residents);
      if (!remove(victim)) {
        throw new IllegalStateException(name + ": item " + victim + " to give up is not resident");
      }
      if (count == givenUp.length) {
        givenUp = Arrays.copyOf(givenUp, 2 * count);
      }
      givenUp[count++] = victim;
    }
    return Arrays.copyOf(givenUp, count);
  }

  private static long requireCapacity(long capacity) {
    if (capacity < 0) {
      throw new IllegalArgumentException("capacity must not be negative: " + capacity);
    }
    return capacity;
  }

  private static long requireWeight(long weight) {
    if (weight < 1) {
      throw new IllegalArgumentException("weight must be at least 1: " + weight);
    }
    return weight;
  }
}
