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
   * @param after the key behind which the listing begins; null for the first key
   * @param token the token of the page before, which tells the store where to go on; null for the
   *     first page
   * @param limit keys at most; the store has a limit of its own, too
   */
  record Page(
      String prefix, boolean delimiter, @Nullable String after, @Nullable String token, int limit) {
    /** As many as the store gives in one answer. */
    static final int WHOLE = 1000;

    /** Returns a page of keys without a delimiter. */
    static Page flat(String prefix, @Nullable String after, int limit) {
      return new Page(prefix, false, after, null, limit);
    }

    /** Returns a page of one directory. */
    static Page directory(String prefix, @Nullable String token) {
      return new Page(prefix, true, null, token, WHOLE);
    }

    /** Returns the page behind this one. */
    Page next(@Nullable String nextToken) {
      return new Page(prefix, delimiter, after, nextToken, WHOLE);
    }
  }

  /**
   * Asks for keys.
   *
   * @param what the entry that it is about, for messages
   */
  ListObjectsV2Response list(Page page, String what) throws FsException;

  /** Tells whether there is any key that begins with a prefix. */
  default boolean hasKeys(String prefix, String what) throws FsException {
    return !list(Page.flat(prefix, null, 1), what).contents().isEmpty();
  }
}
