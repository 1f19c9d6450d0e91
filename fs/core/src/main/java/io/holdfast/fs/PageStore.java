package io.holdfast.fs;

import org.jspecify.annotations.Nullable;

/**
 * Puts bytes into the page cache of the own mount of which nobody has asked the daemon yet.
 * Thread-safe.
 */
public interface PageStore {
  /** One that cannot. */
  PageStore NONE = (node, source) -> false;

  /**
   * Begins to put bytes of a file into the page cache, charged to this process. The kernel may drop
   * them again, as any others.
   *
   * @return false where that is not possible: the source is not asked then
   */
  boolean store(long node, Source source);

  /** What is to be stored. Its methods are called one after the other, none of them for long. */
  interface Source {
    /**
     * Returns what comes next, which stays where it is until the next call; null where there is no
     * more.
     */
    @Nullable Piece next();

    /**
     * It is over. Called once, however it ended, unless the process ends first.
     *
     * @param known whether the kernel knows the file; it takes nothing of others
     */
    void over(boolean known);
  }

  /**
   * Some bytes of a file.
   *
   * @param offset first byte, at the beginning of a page
   * @param bytes of whole pages, or up to the end of the file
   */
  record Piece(long offset, CheckedBytes bytes) {}
}
