package io.holdfast.fs.checkpoint;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which names and kinds of files a store takes. The front takes more, and an operation that the
 * store refuses would keep all behind it waiting for ever. Immutable.
 *
 * @param longest the most bytes of a name
 * @param allBytes whether a name may be other bytes than UTF-8
 * @param marks whether a name may have {@link #MARKS}, which Windows has not
 * @param cases whether names differ that have the same letters, large and small
 * @param pipes whether there are pipes and sockets
 * @param devices whether there are devices
 * @param symlinks whether there are symlinks
 */
public record NameLimits(
    int longest,
    boolean allBytes,
    boolean marks,
    boolean cases,
    boolean pipes,
    boolean devices,
    boolean symlinks) {
  private static final Logger log = LoggerFactory.getLogger(NameLimits.class);

  private static final int LONGEST = 255;
  private static final String MARKS = ":*?\"<>|\\";
  private static final int PIPE = 0010000;
  private static final int SOCKET = 0140000;
  private static final int CHARACTER_DEVICE = 0020000;
  private static final int BLOCK_DEVICE = 0060000;

  /** The device that is tried: /dev/null. */
  private static final long NULL_DEVICE = 1 << 8 | 3;

  /** The errors of a store that will never take a name, or a kind of file. */
  private static final Set<Errno> REFUSALS =
      Set.of(
          Errno.EILSEQ,
          Errno.EINVAL,
          Errno.ENOENT,
          Errno.EPERM,
          Errno.EACCES,
          Errno.EOPNOTSUPP,
          Errno.ENOSYS);

  /** The limits of a store that takes all that Linux has. */
  public static final NameLimits OF_LINUX =
      new NameLimits(LONGEST, true, true, true, true, true, true);

  /** The files of a store for which limits are looked for. */
  interface Place {
    /** Makes a file and removes it. */
    void tryOut(String name, int mode, long device) throws ErrnoException;

    /** Makes a file, looks whether another name leads to one, and removes it. */
    boolean isFound(String name, String other) throws ErrnoException;
  }

  /**
   * Finds the limits out by trying.
   *
   * @param longest the most bytes of a name
   * @param name a name that is nobody else's, nor any that begins with it
   */
  static NameLimits find(int longest, String name, Place place) {
    NameLimits limits =
        new NameLimits(
            longest,
            isTaken(place, name + "\u00ff", Stat.REGULAR),
            isTaken(place, name + MARKS, Stat.REGULAR),
            !isFound(place, name, name.toUpperCase(Locale.ROOT)),
            isTaken(place, name, PIPE),
            isTaken(place, name, CHARACTER_DEVICE),
            isTaken(place, name, Stat.SYMLINK));
    if (!limits.withLongest(LONGEST).equals(OF_LINUX)) {
      log.info("programs cannot have all names and kinds of files, as the store: {}", limits);
    }
    return limits;
  }

  private NameLimits withLongest(int other) {
    return new NameLimits(other, allBytes, marks, cases, pipes, devices, symlinks);
  }

  private static boolean isTaken(Place place, String name, int type) {
    try {
      place.tryOut(name, type | 0600, type == CHARACTER_DEVICE ? NULL_DEVICE : 0);
      return true;
    } catch (ErrnoException e) {
      log.debug("the store does not take it: {}", e.getMessage());
      return REFUSALS.stream().noneMatch(e::is); // else it may do so later
    }
  }

  private static boolean isFound(Place place, String name, String other) {
    try {
      return place.isFound(name, other);
    } catch (ErrnoException e) {
      log.debug("the store cannot be tried out: {}", e.getMessage());
      return false;
    }
  }

  /**
   * Makes sure that the store will take a new name.
   *
   * @throws ErrnoException what its file system would answer
   */
  void requireName(String path) throws ErrnoException {
    String name = FileTree.name(path);
    if (name.length() > longest) {
      throw ErrnoException.of(Errno.ENAMETOOLONG, path);
    }
    if (!allBytes && !isUtf8(name)) {
      throw ErrnoException.of(Errno.EILSEQ, path);
    }
    if (!marks && name.chars().anyMatch(each -> MARKS.indexOf(each) >= 0)) {
      throw ErrnoException.of(Errno.EINVAL, path);
    }
  }

  /**
   * Makes sure that the store will take a new file of a type.
   *
   * @throws ErrnoException EOPNOTSUPP if it will not
   */
  void requireType(int mode, String path) throws ErrnoException {
    boolean isTaken =
        switch (mode & Stat.TYPE) {
          case PIPE, SOCKET -> pipes;
          case CHARACTER_DEVICE, BLOCK_DEVICE -> devices;
          case Stat.SYMLINK -> symlinks;
          default -> true;
        };
    if (!isTaken) {
      throw ErrnoException.of(Errno.EOPNOTSUPP, path);
    }
  }

  /**
   * Makes sure that the store will not take a new name for another one of its directory.
   *
   * @throws ErrnoException EEXIST if it will
   */
  void requireOther(String path, List<FileTree.Entry> entries) throws ErrnoException {
    String name = FileTree.name(path);
    String folded = folded(name);
    for (FileTree.Entry entry : entries) {
      if (!entry.name().equals(name) && folded(entry.name()).equals(folded)) {
        throw ErrnoException.of(Errno.EEXIST, path);
      }
    }
  }

  private static String folded(String name) {
    String text = new String(FileTree.textAsBytes(name), StandardCharsets.UTF_8);
    return text.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT);
  }

  private static boolean isUtf8(String name) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(FileTree.textAsBytes(name)));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
