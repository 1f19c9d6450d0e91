package io.holdfast.fs;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A read that reached the daemon, or a fetch; made when it has ended. Immutable.
 *
 * @param kind which of the two
 * @param thread who read, as the kernel numbers threads; 0 for a fetch
 * @param path of the file below the mount's root; asked for later, by another thread
 * @param offset first byte within the file
 * @param length bytes that were asked for
 * @param source where the bytes came from; null if no bytes came
 * @param nanos how long the read or fetch took
 * @param failure why the read or fetch failed, or null
 */
public record AccessEvent(
    Kind kind,
    int thread,
    Supplier<?> path,
    long offset,
    int length,
    @Nullable ReadSource source,
    long nanos,
    @Nullable FsError failure) {
  /** The kind of an event. */
  public enum Kind {
    /** An application read what was not in the page cache. */
    READ,
    /** An item, or a part of one, was fetched. */
    FETCH
  }
}
