package io.holdfast.fs.plan;

import io.holdfast.fs.stats.JobLife;
import io.holdfast.fs.transit.Item;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the daemon that plans use. Immutable.
 *
 * @param life tells whether processes of a job live; may read {@code /proc}
 * @param datasetBytes returns the bytes of the dataset in whole pages
 * @param thread a single thread, which computes
 * @param mark a file that tells the next daemon of the mount that a plan was followed; null if
 *     there is none
 * @param nanoTime a clock of nanoseconds
 */
public record PlanParts(
    Items items,
    Residents residents,
    Function<String, JobLife> life,
    LongSupplier datasetBytes,
    Executor thread,
    @Nullable Path mark,
    LongSupplier nanoTime) {
  /** The files of the dataset. Thread-safe; no method waits. */
  public interface Items {
    /** Returns how many items a file has. */
    long count(long id);

    /** Returns the only item of a file; null if there is none, or the user says where it stays. */
    @Nullable Item item(long id);
  }

  /** The residents of this node. Thread-safe; no method waits. */
  public interface Residents {
    /** Returns an item's bytes as they are counted. */
    long weight(Item item);

    /** Returns the bytes that residents may take. */
    long capacity();

    /** Returns the bytes of all residents. */
    long bytes();

    /** Passes each resident. */
    void forEach(Consumer<Item> taker);

    /** Tells whether an item is resident. */
    boolean has(Item item);

    /** Releases a resident. */
    void release(Item item);
  }
}
