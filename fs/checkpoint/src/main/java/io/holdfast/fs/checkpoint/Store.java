package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.util.List;
import java.util.UUID;
import jnr.constants.platform.Errno;

/**
 * Where checkpoints are kept for good. The persister brings operations to it, on one thread: one by
 * one to an {@link InPlaceStore}, in rows to a {@link RowStore}. The methods that read are
 * thread-safe, and show what is durable.
 */
public interface Store extends AutoCloseable {
  /** The name in the root that is the store's own; it is not part of what the store keeps. */
  String OWNER = ".holdfast-checkpoint";

  /**
   * The name in the root of a directory of the file that names the last mount, also the store's.
   */
  String LAST = OWNER + ".last";

  /**
   * Returns the failure of a front that has operations for a store where nothing names it.
   *
   * @param mark what should name it
   */
  static ErrnoException isNotHeld(String mark) {
    return ErrnoException.because(
        Errno.EBUSY,
        "",
        "%s is missing, and the front has changes that are not in the store yet: another node has had the store, or another one is mounted there; mount the right store, or choose another --front, and what only this one has is lost"
            .formatted(mark));
  }

  /**
   * Returns the failure of a front that has operations for another store than the one that names
   * it.
   *
   * @param mark what names the front, as an earlier mount has left it
   */
  static ErrnoException isOfAnEarlierMount(String mark) {
    return ErrnoException.because(
        Errno.EBUSY,
        "",
        "%s is of an earlier mount with this front, which has changes for another store by now: mount that one (the file 'store' in the front names it), or choose another --front, and what only this one has is lost"
            .formatted(mark));
  }

  /**
   * Returns the failure of a front that cannot begin anew, and whose store another mount has had.
   *
   * @param last what identifies the last mount of the store
   * @param owner what identifies the front and its mount
   * @param isHeld whether the front has operations that the store lacks
   */
  static ErrnoException isOfALaterMount(String last, String owner, boolean isHeld) {
    return ErrnoException.because(
        Errno.EBUSY,
        "",
        "%s has had the store since %s had it%s"
            .formatted(
                frontOf(last),
                frontOf(owner),
                isHeld
                    ? ", which has changes that are not in the store: choose another --front, and what only the old one has, below its 'tree', is lost"
                    : ": this mount cannot go on, mount again"));
  }

  /** The end of the place of a front that its machine loses when it stops. */
  String IN_MEMORY = ", in memory";

  /**
   * Returns what identifies a front: the first line of its marks.
   *
   * @param place says where it is, to people, too
   * @param id no other front has it, also not one that is at the same place later
   */
  static String front(String place, UUID id) {
    return "%s (%s)".formatted(place, id);
  }

  /** Returns where a front is, or the text itself if it tells no place. */
  private static String placeOf(String front) {
    int end = front.length() - front("", new UUID(0, 0)).length();
    return end > 0 && front.startsWith(" (", end) ? front.substring(0, end) : front;
  }

  /**
   * Tells whether a front may take over a store with a mark: if the mark is its own, or that of a
   * front that has been in memory at the same place, and that its machine has lost.
   *
   * @param isHeld whether the front has operations that the store lacks
   */
  static boolean isOfFront(String mark, String owner, boolean isHeld) {
    String other = frontOf(mark);
    String own = frontOf(owner);
    boolean isLost =
        !isHeld && placeOf(own).endsWith(IN_MEMORY) && placeOf(own).equals(placeOf(other));
    return other.equals(own) || isLost;
  }

  /**
   * Says who has a store, for the user whose front must not have it.
   *
   * @param mark that of the one who has it
   * @param owner that of the front
   */
  static String describeWriter(String mark, String owner) {
    String other = frontOf(mark);
    if (other.isEmpty()) {
      return "a node that has not told its name";
    }
    return placeOf(other).equals(placeOf(frontOf(owner)))
        ? other
            + ", and another front is at its place now: if its file system is not mounted, mount it"
        : other;
  }

  /** Returns the front that a mark names: its first line. The next one differs for each mount. */
  static String frontOf(String mark) {
    return mark.lines().findFirst().orElse("");
  }

  /**
   * Returns what identifies the last mount of this store before it was opened, as that mount gave
   * it; empty if the store names none. The name stays when a mount has ended.
   */
  String lastMount();

  /**
   * Notes durably that this mount is the last one. The caller does that before it changes any file
   * of the store, and once its front has no files of another moment.
   */
  void noteMount() throws ErrnoException;

  /**
   * Tells whether nothing shows that this is the store, and not the bare place of a file system
   * that is not mounted: it named no mount when it was opened, and has no files.
   */
  default boolean isBare() throws ErrnoException {
    return lastMount().isEmpty() && list("").stream().allMatch(entry -> entry.name().equals(OWNER));
  }

  /** Returns which names and kinds of files the store can have. */
  default NameLimits nameLimits() {
    return NameLimits.OF_LINUX;
  }

  /** Returns the bytes of the largest file that the store can have. */
  long largestFile();

  /** Returns the bytes of the longest target that a symlink can have here. */
  int longestTarget();

  /** Returns how many names a file can have here. */
  int mostLinks();

  /**
   * Tells whether files have the owners here that programs gave them. Else all may be this
   * process's.
   */
  boolean keepsOwners();

  /** Tells whether two names can change places in one step (RENAME_EXCHANGE). */
  boolean exchanges();

  /**
   * Tells whether a program may read a file here as long as it has it open. Else the front fetches
   * it as a whole first.
   */
  boolean readsInPlace();

  /**
   * Opens a file to read it for a program that may read another file: the front's, with these
   * attributes.
   *
   * @return a descriptor, which the caller gives to {@link #closeAfterReading}
   * @throws ErrnoException EIO if it is not the same file
   */
  int openToRead(String path, Stat expected) throws ErrnoException;

  /**
   * Closes what {@link #openToRead} has opened. On NFS and Lustre close(2) waits for the server,
   * for as long as that does not answer: so the caller holds no lock that others need.
   */
  default void closeAfterReading(int descriptor) {
    LIBC.close(descriptor);
  }

  /** Returns the attributes of what has a path. Equal inodes are one file with several names. */
  Stat stat(String path) throws ErrnoException;

  /** Lists a directory, also with {@link #OWNER} if that is there. */
  List<FileTree.Entry> list(String path) throws ErrnoException;

  /** Returns where a symlink leads. */
  String readLink(String path) throws ErrnoException;

  /** Returns the names of the extended attributes. */
  List<String> xattrNames(String path) throws ErrnoException;

  /** Returns an extended attribute. */
  byte[] xattr(String path, String name) throws ErrnoException;

  /** Makes sure that this node still is the one that may write. */
  void checkOwner() throws ErrnoException;

  /** Ends the use of the store; it is free for other nodes then if nothing is pending. */
  void release(boolean nothingPending);

  @Override
  void close();
}
