package io.holdfast.fs.transit;

/**
 * Decides which fetched bytes stay in transit for other jobs that read the same order, and which
 * fetches wait for these jobs; see {@link SharedFetch}. Thread-safe; no method waits.
 */
public interface Sharing {
  /** Shares nothing. */
  Sharing NONE =
      new Sharing() {
        @Override
        public boolean begins(SharedFetch fetch, Item range, Reader reader, boolean ahead) {
          return true;
        }

        @Override
        public void joined(SharedFetch fetch, Reader reader) {}

        @Override
        public void delivered(SharedFetch fetch, Reader reader, int bytes) {}

        @Override
        public boolean keeps(SharedFetch fetch) {
          return false;
        }

        @Override
        public void ended(SharedFetch fetch) {}

        @Override
        public long heldBytes() {
          return 0;
        }
      };

  /**
   * Learns of a fetch for a program before it asks any source.
   *
   * @param range the bytes to fetch: an item, or a part of one
   * @param reader the reader that it begins for
   * @param ahead whether no reader waits for it yet
   * @return false if it waits for {@link SharedFetch#goOn()}, or is left out if it is ahead
   */
  boolean begins(SharedFetch fetch, Item range, Reader reader, boolean ahead);

  /** Learns that a read waits for a fetch that has begun before. */
  void joined(SharedFetch fetch, Reader reader);

  /** Learns that a program's read was answered with bytes of a fetch. */
  void delivered(SharedFetch fetch, Reader reader, int bytes);

  /**
   * Decides on a complete fetch that has not become resident.
   *
   * @return whether its bytes stay until {@link SharedFetch#letGo()}
   */
  boolean keeps(SharedFetch fetch);

  /** Learns that a fetch is over, and its bytes with it. */
  void ended(SharedFetch fetch);

  /** Returns the bytes that are kept for other jobs, or being fetched to be kept. */
  long heldBytes();
}
