package io.holdfast.fs;

import org.jspecify.annotations.Nullable;

/**
 * Puts bytes into the page cache of the own mount before anybody asks the daemon for them.
 * Thread-safe.
 */
public interface PageStore {
  /** A store that cannot put bytes anywhere. */
  PageStore NONE = (node, source) -> false;

  /**
   * Begins to put bytes of a file into the page cache, charged to this process. The kernel may drop
   * these pages again, as it may drop any others.
   *
   * @return false if that is not possible; the source is not asked then
   */
  boolean store(long node, Source source);

  /** The bytes to store. The store calls one method at a time; none takes long. */
  interface Source {
    /**
     * Returns the next piece, whose bytes stay where they are until the next call; null if there
     * are no more.
     */
    @Nullable Piece next();

    /**
     * Learns that the store has ended. Called once, also after a failure, unless the process ends
     * first.
     *
     * @param known whether the kernel knows the file; it takes no bytes of other files
     */
    void over(boolean known);
  }

  /**
   * Some bytes of a file.
   *
   * @param offset offset of the first byte, at the beginning of a page
   * @param bytes of whole pages, or up to the end of the file
   */
  record Piece(long offset, CheckedBytes bytes) {}
}
