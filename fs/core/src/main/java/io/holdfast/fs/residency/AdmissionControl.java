package io.holdfast.fs.residency;

import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.Item;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which items may become resident. An item must get a mapping and room in the log of
 * residents; then the user's selections and pins by name decide, then the policy. Thread-safe.
 */
final class AdmissionControl {
  private static final Logger log = LoggerFactory.getLogger(AdmissionControl.class);

  /** A swap leaves at most one of so many parts of the capacity free. */
  private static final int SLACK_PARTS = 1000;

  /** How many residents are asked to make way for one item: some may have gone. */
  private static final int MOST_VICTIMS = 8;

  private final ResidentSet residentSet;
  private final Selection selection;
  private final Pins pins = new Pins();
  private final ResidentLog residentLog;
  private volatile long mappings;

  private final AtomicLong admitted = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicBoolean saidMappings = new AtomicBoolean();

  AdmissionControl(
      ResidentSet residentSet, Selection selection, ResidentLog residentLog, long mappings) {
    this.residentSet = residentSet;
    this.selection = selection;
    this.residentLog = residentLog;
    this.mappings = mappings;
  }

  Pins pins() {
    return pins;
  }

  Selection.Verdict verdict(OriginPath path) {
    if (pins.isEmpty() && selection.isEmpty()) {
      return Selection.Verdict.ORDINARY;
    }
    String name = path.toString();
    return pins.contains(name) ? Selection.Verdict.KEPT : selection.of(name);
  }

  boolean wouldAdmit(Item item) {
    if (residentSet.size() >= mappings) {
      return false;
    }
    Selection.Verdict verdict = verdict(item.path().get());
    if (verdict != Selection.Verdict.ORDINARY) {
      return verdict == Selection.Verdict.KEPT;
    }
    return residentSet.wouldAdmit(
        item.key(), Residency.hash(item), Residency.weight(item.length()));
  }

  boolean hasRoom(Item item, long besides) {
    ResidentSet.Sums now = residentSet.sums();
    long free = isPinnedByName(item) ? now.capacity() - now.keptBytes() : now.free();
    return Residency.weight(item.length()) <= free - besides && wouldAdmit(item);
  }

  private boolean isPinnedByName(Item item) {
    return !pins.isEmpty() && pins.contains(item.path().get().toString());
  }

  /** Tells whether a mapping is left. Logs the first time that none is. */
  boolean hasMappings() {
    if (residentSet.size() < mappings) {
      return true;
    }
    if (saidMappings.compareAndSet(false, true)) {
      log.warn(
          "no more items are admitted: {} mappings are in use, and vm.max_map_count allows no more;"
              + " raise it with 'sysctl vm.max_map_count=N'",
          mappings);
    }
    return false;
  }

  void allowMappings(long most) {
    mappings = most;
    saidMappings.set(false);
  }

  /**
   * Asks the policy for admission; returns the new resident, or null where the item is refused.
   *
   * @param taker takes the evicted residents
   */
  @Nullable Resident admit(Item item, Consumer<Resident> taker) {
    Selection.Verdict verdict = verdict(item.path().get());
    if (verdict == Selection.Verdict.EXCLUDED || !canRemember()) {
      refused.incrementAndGet();
      return null;
    }
    Resident resident = new Resident(item);
    List<Resident> givenUp = new ArrayList<>(0);
    boolean kept = verdict == Selection.Verdict.KEPT;
    boolean admits;
    try {
      admits = residentSet.admit(resident, kept, Residency.weight(item.length()), givenUp);
    } finally {
      pass(givenUp, taker);
    }
    (admits ? admitted : refused).incrementAndGet();
    return admits ? resident : null;
  }

  /**
   * Asks for a resident to make way for an item; returns the new resident, or null where none does.
   *
   * @param taker takes the evicted resident
   */
  @Nullable Resident swap(Item item, Swaps swaps, Consumer<Resident> taker) {
    if (!hasMappings() || !isLeftToPolicy(item) || !canRemember()) {
      return null;
    }
    Resident resident = new Resident(item);
    List<Resident> givenUp = new ArrayList<>(1);
    ResidentSet.Sums now = residentSet.sums();
    long free = now.free() / Linux.PAGE_SIZE;
    long slack = now.capacity() / Linux.PAGE_SIZE / SLACK_PARTS;
    for (int i = 0; i < MOST_VICTIMS; i++) {
      ItemKey victim = swaps.victim(item, free, slack);
      if (victim == null) {
        return null;
      }
      boolean admits;
      try {
        admits = residentSet.swap(resident, victim, Residency.weight(item.length()), givenUp);
      } finally {
        pass(givenUp, taker);
      }
      if (admits) {
        admitted.incrementAndGet();
        return resident;
      }
    }
    return null;
  }

  /** Passes evicted residents, each whatever becomes of the others: nobody else has them. */
  static void pass(List<Resident> givenUp, Consumer<Resident> taker) {
    for (int i = 0; i < givenUp.size(); i++) { // without an iterator: there may be no room for it
      try {
        taker.accept(givenUp.get(i));
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e);
      }
    }
  }

  boolean isLeftToPolicy(Item item) {
    return (pins.isEmpty() && selection.isEmpty())
        || verdict(item.path().get()) == Selection.Verdict.ORDINARY;
  }

  private boolean canRemember() {
    try {
      residentLog.reserve();
      return true;
    } catch (FsException e) {
      log.debug("an item is not admitted: {}", e.getMessage()); // the log has warned
      return false;
    }
  }

  long admitted() {
    return admitted.get();
  }

  long refused() {
    return refused.get();
  }
}
