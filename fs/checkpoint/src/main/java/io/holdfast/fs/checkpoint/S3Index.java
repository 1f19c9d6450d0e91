package io.holdfast.fs.checkpoint;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;

/**
 * All names of a store in S3, as one row left them: the content of one object of the bucket. Who
 * puts it there has committed the row. Immutable.
 *
 * <pre>
 * index: 0 magic i64, 8 CRC32C u32 of what follows, 12 the rest, compressed by gzip:
 *        stamp i64, row i64,
 *        number of names u32, each: path, id i64, ETag, staged, and if no name before has the id, the file
 *        number of files to delete u32, each: path
 * file:  mode u32, uid u32, gid u32, device i64, size i64, accessed i64, modified i64, target,
 *        number of attributes u32, each: name, value
 * text:  length u32, bytes
 * </pre>
 */
final class S3Index {
  /** The format's name and version: "hfindex1". */
  private static final long MAGIC = 0x6866696e64657831L;

  private static final int HEADER = 12;
  private static final int LARGEST_TEXT = 1 << 20;
  private static final int LONGEST_NAME = 255;

  /** The bytes that a text takes besides its own, for the bound of what an index may take. */
  private static final int TEXT = 32;

  /** Files that are made later get larger ids. */
  private static final long LARGEST_ID = 1L << 62;

  /** So many bytes of text may be in an index for each byte of the object. */
  private static final long MOST_COMPRESSED = 1000;

  /** A file without its names. Times are nanoseconds of the epoch. */
  record File(
      int mode,
      int uid,
      int gid,
      long device,
      long size,
      long accessed,
      long modified,
      String target,
      SortedMap<String, String> xattrs) {
    int type() {
      return mode & Stat.TYPE;
    }

    boolean isRegular() {
      return type() == Stat.REGULAR;
    }

    boolean isDirectory() {
      return type() == Stat.DIRECTORY;
    }
  }

  /**
   * A name.
   *
   * @param id of the file, equal for all its names
   * @param etag of the object with the bytes; empty if the file is not regular
   * @param staged the key where the object is until it is copied to the name's; empty if it is
   *     there
   */
  record Name(long id, File file, String etag, String staged) {
    boolean isStaged() {
      return !staged.isEmpty();
    }
  }

  private final long stamp;
  private final long row;
  private final NavigableMap<String, Name> names;
  private final List<String> garbage;
  private final Map<Long, Integer> links = new HashMap<>();

  /**
   * Creates an index.
   *
   * @param stamp a number that no other index object has
   * @param row the number of the row
   * @param names by their paths; the root is the empty one
   * @param garbage paths whose objects are to be deleted
   */
  S3Index(long stamp, long row, NavigableMap<String, Name> names, List<String> garbage) {
    this.stamp = stamp;
    this.row = row;
    this.names = Collections.unmodifiableNavigableMap(names);
    this.garbage = List.copyOf(garbage);
    names.values().forEach(name -> links.merge(name.id(), 1, Integer::sum));
  }

  /** Returns the index of an empty store, whose root is this user's. */
  static S3Index empty(long stamp, int uid, long now) {
    TreeMap<String, Name> names = new TreeMap<>();
    File root = new File(Stat.DIRECTORY | 0755, uid, 0, 0, 0, now, now, "", new TreeMap<>());
    names.put("", new Name(1, root, "", ""));
    return new S3Index(stamp, 0, names, List.of());
  }

  long stamp() {
    return stamp;
  }

  long row() {
    return row;
  }

  NavigableMap<String, Name> names() {
    return names;
  }

  List<String> garbage() {
    return garbage;
  }

  /** Returns the same names under another stamp. */
  S3Index stamped(long another) {
    return new S3Index(another, row, new TreeMap<>(names), garbage);
  }

  /** Returns what has a path. */
  Name require(String path) throws ErrnoException {
    Name name = names.get(path);
    if (name == null) {
      throw ErrnoException.of(Errno.ENOENT, path);
    }
    return name;
  }

  /** Returns whether an object has, or is to have, the bytes of a path. */
  boolean hasObject(String path) {
    Name name = names.get(path);
    return name != null && name.file().isRegular();
  }

  /** Returns the ETag of the object of a path; empty if there is none. */
  String etag(String path) {
    Name name = names.get(path);
    return name == null ? "" : name.etag();
  }

  /** Returns the paths below a directory, at any depth. */
  static <V> SortedMap<String, V> below(NavigableMap<String, V> names, String directory) {
    return directory.isEmpty()
        ? names.tailMap("", false)
        : names.subMap(directory + "/", directory + "0"); // behind the slash
  }

  Stat stat(String path) throws ErrnoException {
    Name name = require(path);
    File file = name.file();
    return new Stat(
        name.id(),
        file.mode(),
        links.getOrDefault(name.id(), 1),
        file.uid(),
        file.gid(),
        file.device(),
        file.size(),
        0,
        file.accessed(),
        file.modified(),
        file.modified());
  }

  List<FileTree.Entry> list(String directory) throws ErrnoException {
    if (!require(directory).file().isDirectory()) {
      throw ErrnoException.of(Errno.ENOTDIR, directory);
    }
    List<FileTree.Entry> entries = new ArrayList<>();
    below(names, directory)
        .forEach(
            (path, name) -> {
              if (FileTree.parent(path).equals(directory)) {
                entries.add(new FileTree.Entry(FileTree.name(path), name.file().type(), name.id()));
              }
            });
    return entries;
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(new byte[HEADER]);
    try (DataOutputStream out = new DataOutputStream(new GZIPOutputStream(bytes))) {
      out.writeLong(stamp);
      out.writeLong(row);
      out.writeInt(names.size());
      Map<Long, File> written = new HashMap<>();
      for (Map.Entry<String, Name> entry : names.entrySet()) {
        Name name = entry.getValue();
        text(out, entry.getKey());
        out.writeLong(name.id());
        text(out, name.etag());
        text(out, name.staged());
        if (written.put(name.id(), name.file()) == null) {
          encode(out, name.file());
        }
      }
      out.writeInt(garbage.size());
      for (String path : garbage) {
        text(out, path);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e); // in memory
    }
    ByteBuffer all = ByteBuffer.wrap(bytes.toByteArray());
    all.putLong(0, MAGIC).putInt(8, OperationsLog.crc(all.duplicate().position(HEADER)));
    return all.array();
  }

  private static void encode(DataOutputStream out, File file) throws IOException {
    out.writeInt(file.mode());
    out.writeInt(file.uid());
    out.writeInt(file.gid());
    out.writeLong(file.device());
    out.writeLong(file.size());
    out.writeLong(file.accessed());
    out.writeLong(file.modified());
    text(out, file.target());
    out.writeInt(file.xattrs().size());
    for (Map.Entry<String, String> xattr : file.xattrs().entrySet()) {
      text(out, xattr.getKey());
      text(out, xattr.getValue());
    }
  }

  /**
   * Reads an index. Others may write to the bucket: an index whose names are no tree is refused.
   *
   * @throws ErrnoException EIO if it is damaged, or of another version
   */
  static S3Index decode(byte[] bytes) throws ErrnoException {
    ByteBuffer all = ByteBuffer.wrap(bytes);
    boolean whole =
        bytes.length > HEADER
            && all.getLong(0) == MAGIC
            && all.getInt(8) == OperationsLog.crc(all.duplicate().position(HEADER));
    if (!whole) {
      throw damaged("its checksum or version is wrong");
    }
    try (DataInputStream in =
        new DataInputStream(
            new GZIPInputStream(new ByteArrayInputStream(bytes, HEADER, bytes.length - HEADER)))) {
      long[] left = {MOST_COMPRESSED * bytes.length};
      long stamp = in.readLong();
      long row = in.readLong();
      TreeMap<String, Name> names = new TreeMap<>();
      Map<Long, File> files = new HashMap<>();
      for (int count = in.readInt(); count > 0; count--) {
        String path = text(in, left);
        long id = in.readLong();
        String etag = text(in, left);
        String staged = text(in, left);
        File file = files.get(id);
        if (file == null) {
          file = decodeFile(in, left);
          files.put(id, file);
        }
        check(path, file, names);
        if (id <= 0 || id > LARGEST_ID || !(staged.isEmpty() || staged.startsWith(S3Keys.ROWS))) {
          throw damaged("the file or the object of a name is none: " + FileTree.visible(path));
        }
        if (names.put(path, new Name(id, file, etag, staged)) != null) {
          throw damaged("a name is there twice: " + FileTree.visible(path));
        }
      }
      List<String> garbage = new ArrayList<>();
      for (int count = in.readInt(); count > 0; count--) {
        String path = text(in, left);
        if (path.startsWith(S3Keys.OWN)) {
          throw damaged("it would have the store's own objects deleted");
        }
        garbage.add(path);
      }
      if (!names.containsKey("")) {
        throw damaged("it has no root");
      }
      return new S3Index(stamp, row, names, garbage);
    } catch (ErrnoException e) {
      throw e;
    } catch (IOException e) {
      throw damaged(String.valueOf(e.getMessage()));
    }
  }

  private static File decodeFile(DataInputStream in, long[] left) throws IOException {
    int mode = S3Row.kept(in.readInt());
    int uid = in.readInt();
    int gid = in.readInt();
    long device = in.readLong();
    long size = in.readLong();
    long accessed = in.readLong();
    long modified = in.readLong();
    String target = text(in, left);
    TreeMap<String, String> xattrs = new TreeMap<>();
    for (int count = in.readInt(); count > 0; count--) {
      String name = text(in, left);
      xattrs.put(name, text(in, left));
    }
    return new File(mode, uid, gid, device, size, accessed, modified, target, xattrs);
  }

  /** A name comes behind its directory. */
  private static void check(String path, File file, Map<String, Name> names) throws ErrnoException {
    String name = FileTree.name(path);
    Name parent = names.get(FileTree.parent(path));
    boolean isRoot = path.isEmpty() && file.isDirectory();
    boolean isName =
        !path.startsWith("/")
            && !path.equals(Store.OWNER)
            && !name.isEmpty()
            && !name.equals(".")
            && !name.equals("..")
            && name.indexOf('\0') < 0
            && name.length() <= LONGEST_NAME
            && parent != null
            && parent.file().isDirectory();
    if ((!isRoot && !isName) || file.size() < 0) {
      throw damaged("a name in it is none: " + FileTree.visible(path));
    }
  }

  private static ErrnoException damaged(String why) {
    return ErrnoException.because(Errno.EIO, "", "the index in the bucket is damaged: " + why);
  }

  private static void text(DataOutputStream out, String text) throws IOException {
    byte[] bytes = FileTree.textAsBytes(text);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static String text(DataInputStream in, long[] left) throws IOException {
    int length = in.readInt();
    left[0] -= length + (long) TEXT;
    if (length < 0 || length > LARGEST_TEXT || left[0] < 0) {
      throw new IOException("a text of " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return FileTree.bytesAsText(bytes);
  }

  /** Returns a name, or null. */
  @Nullable Name find(String path) {
    return names.get(path);
  }
}
