package io.holdfast.fs.residency;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Gives the kernel the pages of items that are not admitted, ahead of their readers, so that the
 * reads are hits. The pages are in the window from then on. Thread-safe. Only isolated threads
 * touch the own mount, and no method waits for them.
 */
final class PagesAhead {
  /** Bytes that are given to the kernel at once. */
  private static final int PIECE = 1 << 20;

  private final OwnMount mount;
  private final PageStore pages;
  private final IsolatedThreads droppers;
  private final PageDropper window;

  PagesAhead(OwnMount mount, PageStore pages, IsolatedThreads droppers, PageDropper window) {
    this.mount = mount;
    this.pages = pages;
    this.droppers = droppers;
    this.window = window;
  }

  /**
   * Begins to give an item's pages to the kernel. {@link Fetched#passedOn()} is called when the
   * kernel has them.
   *
   * @return false where that is not possible
   */
  boolean begin(Fetched fetched) {
    return new Arrived(fetched).begin();
  }

  /** An item whose bytes have arrived, from its first piece to its last one. */
  private final class Arrived implements PageStore.Source {
    private final Fetched fetched;
    private final Item item;
    private final byte[] path;
    private boolean lookedUp;

    /** How many bytes the kernel has been given. */
    private int stored;

    /** Address of the bytes while they are being given to the kernel. */
    private long memory;

    Arrived(Fetched fetched) {
      this.fetched = fetched;
      this.item = fetched.item();
      this.path = item.path().get().bytes();
    }

    boolean begin() {
      return pages.store(item.node(), this);
    }

    @Override
    public PageStore.@Nullable Piece next() {
      if (stored == item.length() || fetched.isOutdated()) {
        return null;
      }
      memory = memory == 0 ? fetched.hold() : memory;
      if (memory == 0) {
        return null;
      }
      int from = stored;
      int length = Math.min(PIECE, item.length() - from);
      try {
        CheckedBytes bytes = CheckedBytes.of(item, from, length, fetched.item(), memory);
        stored += length;
        return new PageStore.Piece(item.offset() + from, bytes);
      } catch (FsException e) {
        return null; // and read as any other item
      }
    }

    /** Looks the file up and stores again, once, if the kernel did not know the file. */
    @Override
    public void over(boolean known) {
      boolean goesOn = false;
      try {
        if (memory != 0) {
          memory = 0;
          fetched.release();
        }
        goesOn = !known && !lookedUp && lookUpLater();
      } finally {
        if (!goesOn) {
          end(known);
        }
      }
    }

    private boolean lookUpLater() {
      lookedUp = true;
      stored = 0;
      try {
        droppers.execute(this::lookUp);
        return true;
      } catch (RejectedExecutionException e) {
        return false;
      }
    }

    private void lookUp() {
      boolean begun = false;
      try {
        mount.lookUp(path);
        begun = begin();
      } finally {
        if (!begun) {
          end(false);
        }
      }
    }

    /** Until its reader comes, the item is one that has not been read completely. */
    private void end(boolean known) {
      try {
        if (known && stored > 0) {
          window.delivered(item, stored, false);
        }
      } finally {
        fetched.passedOn();
      }
    }
  }
}
