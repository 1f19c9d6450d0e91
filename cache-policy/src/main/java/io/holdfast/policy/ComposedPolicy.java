package io.holdfast.policy;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A policy made of an {@link Admission} and an {@link Eviction}. MinIO's cache is the pair (always,
 * never), LRU is (always, least recently used), and so on. This class does the bookkeeping for all
 * of them.
 *
 * <p>An item is admitted if the admission finds it worth it and it fits: into the free room or, if
 * the eviction replaces residents, into the capacity. Then residents are evicted to make room. The
 * newcomer counts among the residents already, so an eviction that chooses the newcomer thereby
 * refuses it.
 *
 * <p>Items that a user keeps are separate: no eviction sees them, and their weight is not available
 * to other items.
 *
 * <p>Cost: one probe of the {@link ResidentTable} a call, and 21 to 43 bytes a resident, besides
 * the eviction's memory.
 */
final class ComposedPolicy implements CachePolicy {

  private static final long[] NOBODY = {};

  private final String name;
  private final Admission admission;
  private final Eviction eviction;
  private final ResidentTable residents = new ResidentTable();
  private final ResidentTable kept = new ResidentTable();
  private final SplittableRandom random;
  private long capacity;
  private long othersBytes;
  private long keptBytes;

  /**
   * Creates a policy without residents.
   *
   * @param seed seed of the choice among kept items, if the capacity shrinks below their weight
   */
  ComposedPolicy(String name, long capacity, Admission admission, Eviction eviction, long seed) {
    this.name = name;
    this.admission = admission;
    this.eviction = eviction;
    this.random = new SplittableRandom(seed);
    this.capacity = requireCapacity(capacity);
    roomChanged();
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
    return othersBytes + keptBytes;
  }

  @Override
  public long residentItems() {
    return (long) residents.size() + kept.size();
  }

  @Override
  public boolean contains(long id) {
    return weight(id) != ResidentTable.ABSENT;
  }

  private long weight(long id) {
    long weight = residents.weight(id);
    return weight == ResidentTable.ABSENT && kept.size() > 0 ? kept.weight(id) : weight;
  }

  @Override
  public boolean wouldAdmit(long id, long hash, long weight) {
    return fits(requireWeight(weight)) && admission.admits(id, hash, weight);
  }

  @Override
  public Outcome offer(long id, long hash, long weight) {
    if (isResident(id, weight)) {
      return Outcome.ADMITTED;
    }
    if (!wouldAdmit(id, hash, weight)) {
      return Outcome.REFUSED;
    }
    add(id, weight);
    eviction.admitted(id, hash, weight);
    return capacity - residentBytes() >= 0 ? Outcome.ADMITTED : makeRoomFor(id);
  }

  /** Counts a resident in the same step as the table: the heap may be full in the next one. */
  private void add(long id, long weight) {
    residents.add(id, weight);
    othersBytes += weight;
  }

  /**
   * Evicts until the newcomer among the residents fits. The residents exceed the capacity only
   * within a call.
   */
  private Outcome makeRoomFor(long newcomer) {
    boolean admitted = true;
    GivenUp givenUp = new GivenUp();
    while (capacity - residentBytes() < 0) {
      long victim = eviction.victim(residents);
      takeOut(victim);
      if (victim == newcomer) {
        admitted = false;
      } else {
        givenUp.add(victim);
      }
    }
    return Outcome.of(admitted, givenUp.ids());
  }

  @Override
  public boolean swap(long id, long hash, long weight, long victim) {
    long room = capacity - residentBytes();
    long freed = residents.weight(victim);
    if (isResident(id, requireWeight(weight))
        || freed == ResidentTable.ABSENT
        || weight > room + freed) {
      return false;
    }
    takeOut(victim);
    add(id, weight);
    eviction.admitted(id, hash, weight);
    return true;
  }

  @Override
  public Outcome keep(long id, long weight) {
    if (isResident(id, weight)) {
      if (kept.weight(id) == ResidentTable.ABSENT) {
        addKept(id, weight);
        takeOut(id);
        roomChanged();
      }
      return Outcome.ADMITTED;
    }
    if (requireWeight(weight) > capacity - keptBytes) {
      return Outcome.REFUSED;
    }
    addKept(id, weight);
    roomChanged();
    GivenUp givenUp = new GivenUp();
    giveUpOthers(givenUp);
    return Outcome.of(true, givenUp.ids());
  }

  private void addKept(long id, long weight) {
    kept.add(id, weight);
    keptBytes += weight;
  }

  @Override
  public boolean unkeep(long id, long hash) {
    long weight = kept.weight(id);
    if (weight == ResidentTable.ABSENT) {
      return false;
    }
    add(id, weight); // may find the heap full; then the item stays kept
    keptBytes -= kept.remove(id);
    roomChanged();
    eviction.admitted(id, hash, weight);
    return true;
  }

  @Override
  public long keptBytes() {
    return keptBytes;
  }

  @Override
  public long keptItems() {
    return kept.size();
  }

  @Override
  public void access(long id) {
    admission.seen(id);
    eviction.accessed(id);
  }

  @Override
  public void datasetSize(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("size of a dataset must not be negative: " + bytes);
    }
    admission.datasetSized(bytes);
  }

  @Override
  public boolean remove(long id) {
    long keptWeight = kept.remove(id);
    if (keptWeight != ResidentTable.ABSENT) {
      keptBytes -= keptWeight;
      roomChanged();
      return true;
    }
    long weight = residents.remove(id);
    if (weight == ResidentTable.ABSENT) {
      return false;
    }
    othersBytes -= weight;
    eviction.removed(id, residents);
    return true;
  }

  @Override
  public long[] resize(long newCapacity) {
    capacity = requireCapacity(newCapacity);
    roomChanged();
    GivenUp givenUp = new GivenUp();
    giveUpOthers(givenUp);
    if (keptBytes > capacity) {
      while (keptBytes > capacity) {
        long victim = kept.pick(random);
        keptBytes -= kept.remove(victim);
        givenUp.add(victim);
      }
      roomChanged();
    }
    return givenUp.ids();
  }

  /** Announces the room before any eviction: some evictions choose their victims from it. */
  private void roomChanged() {
    long room = Math.max(0, capacity - keptBytes);
    admission.roomChanged(room);
    eviction.roomMade(room);
  }

  @Override
  public void check() {
    long others = residents.checkedTotalWeight();
    long keptWeight = kept.checkedTotalWeight();
    if (others != othersBytes || keptWeight != keptBytes) {
      throw new IllegalStateException(
          "%s: residents weigh %d + %d kept, tracked are %d + %d"
              .formatted(name, others, keptWeight, othersBytes, keptBytes));
    }
    if (residentBytes() > capacity) {
      throw new IllegalStateException(
          "%s: residents weigh %d, the capacity is %d".formatted(name, residentBytes(), capacity));
    }
    eviction.check(residents);
  }

  @Override
  public String toString() {
    return "%s: %d items, %d of %d bytes"
        .formatted(name, residentItems(), residentBytes(), capacity);
  }

  private boolean isResident(long id, long weight) {
    long present = weight(id);
    if (present != ResidentTable.ABSENT && present != weight) {
      throw new IllegalArgumentException(
          "item %d is resident with weight %d, offered with %d".formatted(id, present, weight));
    }
    return present != ResidentTable.ABSENT;
  }

  private boolean fits(long weight) {
    long taken = eviction.replaces() ? keptBytes : residentBytes();
    return weight <= capacity - taken;
  }

  private void giveUpOthers(GivenUp givenUp) {
    while (othersBytes > Math.max(0, capacity - keptBytes)) {
      long victim = eviction.victim(residents);
      takeOut(victim);
      givenUp.add(victim);
    }
  }

  private void takeOut(long id) {
    long weight = residents.remove(id);
    if (weight == ResidentTable.ABSENT) {
      throw new IllegalStateException(name + ": item " + id + " to give up is not resident");
    }
    othersBytes -= weight;
    eviction.removed(id, residents);
  }

  /** A growing list of ids. */
  private static final class GivenUp {
    private long[] ids = NOBODY;
    private int count;

    void add(long id) {
      if (count == ids.length) {
        ids = Arrays.copyOf(ids, Math.max(8, 2 * count));
      }
      ids[count++] = id;
    }

    long[] ids() {
      return Arrays.copyOf(ids, count);
    }
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
