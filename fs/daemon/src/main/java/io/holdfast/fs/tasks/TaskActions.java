package io.holdfast.fs.tasks;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.residency.PinLimits;
import io.holdfast.fs.residency.Pins;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import java.time.Duration;

/** The work of each kind of task. Stateless. */
final class TaskActions {
  /** Longest wait at the end of a task for readers of released pages. */
  private static final Duration LONGEST_LEAVING = Duration.ofMinutes(1);

  private static final long POLL_MILLIS = 20;

  private TaskActions() {}

  static Task.Work of(TaskRequest.Kind kind) {
    return switch (kind) {
      case WARM -> TaskActions::warm;
      case CHECK -> TaskActions::check;
      case PIN -> TaskActions::pin;
      case UNPIN -> TaskActions::unpin;
      case DROP -> TaskActions::drop;
      case CAPACITY -> TaskActions::capacity;
    };
  }

  private static void warm(Task task) throws FsException, InterruptedException {
    bring(task, task.files());
  }

  private static void bring(Task task, FileIds files) throws InterruptedException {
    for (int i = 0; i < files.size(); i++) {
      Node file = task.parts().tree().handle(files.get(i));
      if (file != null) {
        countWithoutItems(task, file);
      }
    }
    new Warming(task.parts(), files, task.counts(), task::goesOn).run(task.request().threads());
  }

  private static void check(Task task) throws FsException, InterruptedException {
    FileIds files = task.files();
    FileIds missing = new FileIds();
    for (int i = 0; i < files.size() && task.goesOn(); i++) {
      Node file = task.parts().tree().handle(files.get(i));
      if (file != null && !isComplete(task, file)) {
        missing.add(file);
      }
    }
    task.missing(missing);
  }

  /** Counts a file's items; returns whether none is missing. */
  private static boolean isComplete(Task task, Node file) {
    TaskParts parts = task.parts();
    long items = parts.items(file);
    boolean complete = true;
    for (long extent = 0; extent < items && task.goesOn(); extent++) {
      Item item = parts.item(file, extent);
      TaskCounts.Kind kind = kind(parts, item);
      task.counts().add(kind, item);
      complete &= kind != TaskCounts.Kind.MISSING;
    }
    countWithoutItems(task, file);
    return complete;
  }

  /** Counts an empty file, or the items of a file that tasks skip. */
  private static void countWithoutItems(Task task, Node file) {
    TaskParts parts = task.parts();
    if (parts.items(file) == 0) {
      task.counts().addEmpty();
    } else if (parts.itemsLeftOut(file) > 0) {
      task.counts().addLeftOut(parts.itemsLeftOut(file), parts.bytesLeftOut(file));
    }
  }

  private static TaskCounts.Kind kind(TaskParts parts, Item item) {
    Residency residency = parts.residency();
    if (residency.isResident(item)) {
      return TaskCounts.Kind.RESIDENT;
    }
    if (!parts.mayKeep().test(item) || residency.isExcluded(item.path().get())) {
      return TaskCounts.Kind.OTHER;
    }
    return residency.hasRoom(item, 0) ? TaskCounts.Kind.MISSING : TaskCounts.Kind.UNFIT;
  }

  private static void pin(Task task) throws FsException, InterruptedException {
    Pins pins = task.parts().residency().pins();
    Scope scope = task.scope();
    FileIds files = task.files(scope);
    if (!task.goesOn()) {
      return;
    }
    synchronized (pins) { // the names that are recorded last are those that are pinned
      pins.add(scope.names());
      task.parts().capacity().pinned(pins.names());
    }
    // first, so that no resident item is evicted for a new one
    task.parts().residency().forEachResident(item -> reconsider(task, item));
    bring(task, files);
  }

  private static void unpin(Task task) throws InterruptedException {
    Pins pins = task.parts().residency().pins();
    Scope scope = task.scope();
    if (!task.goesOn()) {
      return; // some names may be missing, and none stand for all
    }
    task.running();
    synchronized (pins) {
      pins.remove(scope.isEverything() ? pins.names() : scope.names());
      task.parts().capacity().pinned(pins.names());
    }
    task.parts().residency().forEachResident(item -> reconsider(task, item));
  }

  private static void reconsider(Task task, Item item) {
    if (task.parts().residency().reconsider(item)) {
      task.counts().add(TaskCounts.Kind.CHANGED, item);
    }
  }

  private static void drop(Task task) throws FsException, InterruptedException {
    Scope scope = task.scope();
    FileFinder finder = new FileFinder(task);
    for (String path : scope.names().paths()) {
      finder.require(path);
    }
    task.running();
    Residency residency = task.parts().residency();
    residency.forEachResident(
        item -> {
          if (task.goesOn() && scope.contains(item.path().get().toString())) {
            boolean gone = residency.giveUp(item, task.request().force());
            task.counts().add(gone ? TaskCounts.Kind.CHANGED : TaskCounts.Kind.KEPT, item);
          }
        });
    awaitLeaving(task);
  }

  private static void capacity(Task task) throws FsException, InterruptedException {
    long bytes = wanted(task.parts().capacity(), task.request());
    task.running();
    Residency residency = task.parts().residency();
    requirePinned(bytes, task);
    PinLimits limits = task.parts().capacity().prepare(bytes);
    if (residency.isHard() && !limits.canLock()) {
      throw new FsException(
          FsError.NOT_PERMITTED,
          "locking %s is not permitted: raise 'ulimit -l' and mount again, or give less"
              .formatted(Human.bytes(bytes)));
    }
    // first: the memory's guard sets the capacity that it knows, and must not take this one back
    task.parts().capacity().changed(bytes, task.request().withinBudget());
    residency.resize(task.parts().allowed().applyAsLong(bytes), limits.mappings());
    awaitLeaving(task);
  }

  /** Only a user who sets the capacity takes it from pinned files, and no division of memory. */
  private static void requirePinned(long bytes, Task task) throws FsException {
    long pinned = task.parts().residency().figures().keptBytes();
    if (task.request().withinBudget() && bytes < pinned) {
      throw new FsException(
          FsError.RANGE,
          "pinned files take %s of it: 'holdfast unpin' some first, or 'holdfast capacity' sets less"
              .formatted(Human.bytes(pinned)));
    }
  }

  private static long wanted(LiveCapacity limits, TaskRequest request) throws FsException {
    String size = request.size();
    if (size == null) {
      throw new FsException(FsError.INVALID, "no size is given");
    }
    long bytes = Sizes.parse(size, limits.memory());
    if (bytes <= 0) {
      throw new FsException(FsError.INVALID, "a capacity of '" + size + "' must be greater than 0");
    }
    if (request.upTo() && limits.largest() > 0) {
      return Math.min(bytes, limits.largest());
    }
    if (bytes > limits.largest()) {
      throw new FsException(
          FsError.RANGE,
          "a capacity of %s does not fit within --memory: give at most %s"
              .formatted(Human.bytes(bytes), Sizes.exact(limits.largest() >> 20 << 20)));
    }
    return bytes;
  }

  /** Waits until nobody reads from released residents any more. */
  private static void awaitLeaving(Task task) throws InterruptedException {
    long end = System.nanoTime() + LONGEST_LEAVING.toNanos();
    while (task.parts().residency().leaving() > 0 && System.nanoTime() - end < 0) {
      Thread.sleep(POLL_MILLIS);
    }
  }
}
