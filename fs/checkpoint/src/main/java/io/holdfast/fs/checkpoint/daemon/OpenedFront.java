package io.holdfast.fs.checkpoint.daemon;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.checkpoint.Front;
import io.holdfast.fs.checkpoint.Store;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A front with its store, as a daemon opens both at its start. The front has files of this store
 * only, as this front's last mount has left it: other files would be served in their place, and be
 * written to the store. So a store names its last mount, and the front notes that name, too. The
 * daemon writes the store's name first: killed in between, it has a front that begins anew. For one
 * thread.
 */
public final class OpenedFront implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OpenedFront.class);
  private static final long NANOS = 1_000_000;

  /** Opens a store for a front. */
  @FunctionalInterface
  public interface Opener {
    /**
     * Opens the store.
     *
     * @param owner what identifies the front and, in another line, its mount
     * @param isHeld whether the front has operations that the store lacks
     * @throws IOException with one line for the user
     */
    Store open(String owner, boolean isHeld) throws IOException;
  }

  private final Path path;
  private final long capacity;
  private final boolean goesOn;
  private final FrontDirectory directory;
  private final boolean hasCrashed;
  private final Store store;
  private Front front;

  /**
   * Opens a front and its store.
   *
   * @param path the front's directory
   * @param capacity bytes that the front may take
   * @param identity a text that no other store has
   * @param goesOn whether the mount of an earlier daemon shows the front's files
   * @throws IOException with one line for the user
   */
  public OpenedFront(Path path, long capacity, String identity, Opener opener, boolean goesOn)
      throws IOException {
    this.path = path;
    this.capacity = capacity;
    this.goesOn = goesOn;
    directory = new FrontDirectory(path, goesOn);
    hasCrashed = !goesOn && directory.hasCrashed(); // a mount does not outlive its machine
    front = newFront(!hasCrashed);
    boolean isHeld = front.pendingOperations() > 0;
    String owner;
    try {
      owner = directory.owner(isHeld || goesOn, front.isVolatile());
      store = opener.open(owner, isHeld);
    } catch (IOException | RuntimeException e) {
      closeFront();
      directory.close();
      throw e;
    }
    try {
      beOf(identity, owner, isHeld);
    } catch (IOException | RuntimeException e) {
      store.release(!isHeld && !goesOn); // a living mount keeps its store for the next daemon
      store.close();
      closeFront();
      directory.close();
      throw e;
    }
  }

  private Front newFront(boolean isSameBoot) throws IOException {
    return new Front(path, capacity, isSameBoot, OpenedFront::now);
  }

  /** Returns the nanoseconds of the epoch. */
  static long now() {
    return System.currentTimeMillis() * NANOS;
  }

  /**
   * Makes sure that the front has the files of the store.
   *
   * @param owner what identifies this front and its mount
   * @param isHeld whether the front has operations for the store
   * @throws IOException if the store is empty, and the front has files of it, or if another mount
   *     has had the store, and the front cannot begin anew
   */
  private void beOf(String identity, String owner, boolean isHeld) throws IOException {
    String known = directory.store();
    // a store that names the very mount of which operations are pending is the same by another path
    if (!isHeld && !known.isEmpty() && !known.equals(identity)) {
      log.info("the front had the files of {}, and begins anew", known);
      beginAnew();
    }
    boolean hasFiles = !front.tree().list("").isEmpty();
    if (!isHeld && !goesOn && hasFiles && store.isBare()) {
      throw new FsException(
          FsError.UNAVAILABLE,
          "the store '%s' is empty, and the front '%s' has files of it: if the store's file system is not mounted, mount it; if the files are gone for good, choose another --front, or copy the front's file 'last' to the store as .holdfast-checkpoint.last (in S3 .holdfast-checkpoint/last), and it gets again what the front still has"
              .formatted(identity, path));
    }
    String last = store.lastMount();
    boolean isAsLeft =
        !last.isEmpty() && (last.equals(owner) || last.equals(directory.lastMount()));
    if (isHeld || goesOn) {
      if (!isAsLeft && !last.isEmpty()) {
        throw Store.isOfALaterMount(last, owner, isHeld);
      }
    } else if (!isAsLeft && hasFiles) {
      log.info(
          "the store names {} as its last mount: the front may have old files, and begins anew",
          last.isEmpty() ? "none" : Store.frontOf(last));
      beginAnew();
    }
    directory.store(identity);
    store.noteMount();
    directory.lastMount(owner);
  }

  /** Takes all files of the front away; its store has them. */
  void beginAnew() throws IOException {
    closeFront();
    directory.empty();
    front = newFront(true);
  }

  private void closeFront() {
    front.close();
    front.closeFiles();
  }

  /** Returns the front; another one behind {@link #beginAnew}. */
  public Front front() {
    return front;
  }

  /** Returns the store, which the caller closes. */
  public Store store() {
    return store;
  }

  /** Returns the front's directory. */
  FrontDirectory directory() {
    return directory;
  }

  /** Tells whether the machine has stopped since a daemon used the front and did not finish. */
  boolean hasCrashed() {
    return hasCrashed;
  }

  /** Gives the front's directory free for other processes. */
  @Override
  public void close() {
    directory.close();
  }
}
