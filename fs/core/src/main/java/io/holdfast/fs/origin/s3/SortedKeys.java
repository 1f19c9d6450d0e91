package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;

/** A source of sorted keys. Thread-safe. */
@FunctionalInterface
interface SortedKeys {
  /**
   * Some keys in their order.
   *
   * @param prefix what they begin with
   * @param delimiter whether keys that have a further slash are summed up in common prefixes
   * @param after where to go on: the last key before, or the token of the listing before where
   *     there is a delimiter; null for the beginning
   * @param limit keys at most; the store has a limit of its own, too
   */
  record Page(String prefix, boolean delimiter, @Nullable String after, int limit) {
    /** As many as the store gives in one answer. */
    static final int WHOLE = 1000;
  }

  /**
   * Asks for keys.
   *
   * @param what the entry that it is about, for messages
   */
  ListObjectsV2Response list(Page page, String what) throws FsException;

  /** Tells whether there is any key that begins with a prefix. */
  default boolean hasKeys(String prefix, String what) throws FsException {
    return !list(new Page(prefix, false, null, 1), what).contents().isEmpty();
  }
}
