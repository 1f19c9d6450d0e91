package io.holdfast.fs.checkpoint;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import jnr.constants.platform.Errno;

/**
 * One change that a program made to the files, by paths as they were at that moment. Applied in
 * order to a tree that was in the same state, the operations lead to the same tree again.
 * Immutable.
 *
 * <p>The bytes of a {@link Write} are not in it: the {@link Front} has them.
 */
sealed interface Operation {
  /** Applies the operation to a tree. */
  void apply(FileTree tree) throws ErrnoException;

  /** Returns the paths whose content or name changes. */
  List<String> paths();

  /** Returns about how many bytes of memory the operation takes while it is pending. */
  default int weight() {
    return paths().stream().mapToInt(String::length).sum() + OWN_WEIGHT;
  }

  /** The weight without texts: of the objects, and of what the front notes. */
  int OWN_WEIGHT = 350;

  /** Writes the operation, without its {@link #kind}. */
  void encode(DataOutput out) throws IOException;

  /**
   * Tells whether to apply the operation twice leads to the same tree, also if later operations of
   * the same kind on the same file came between.
   */
  default boolean isRepeatable() {
    return true;
  }

  /**
   * Returns the inode by which one sees later whether the operation was applied; 0 if none is
   * needed.
   */
  default long witness(FileTree tree) throws ErrnoException {
    return 0;
  }

  /**
   * Tells whether an operation that is not repeatable was applied, if it is the last one that may
   * have been.
   *
   * @param witness what {@link #witness} returned before
   */
  default boolean isApplied(FileTree tree, long witness) throws ErrnoException {
    return false;
  }

  /** Returns the number of the kind of operation, which is part of the log's format. */
  int kind();

  /** Reads an operation of a kind. */
  static Operation decode(int kind, DataInput in) throws IOException {
    return switch (kind) {
      case Make.KIND -> Make.decode(in);
      case Link.KIND -> Link.decode(in);
      case Remove.KIND -> Remove.decode(in);
      case Rename.KIND -> Rename.decode(in);
      case Attributes.KIND -> Attributes.decode(in);
      case Resize.KIND -> Resize.decode(in);
      case Allocate.KIND -> Allocate.decode(in);
      case Write.KIND -> Write.decode(in);
      case SetXattr.KIND -> SetXattr.decode(in);
      case RemoveXattr.KIND -> RemoveXattr.decode(in);
      default -> throw new IOException("no operation has the number " + kind);
    };
  }

  /**
   * A new file of any type, with its mode and owner.
   *
   * @param target of a symlink; empty otherwise
   */
  record Make(String path, int mode, long device, int uid, int gid, String target)
      implements Operation {
    static final int KIND = 1;

    @Override
    public int weight() {
      return Operation.super.weight() + target.length();
    }

    static Make decode(DataInput in) throws IOException {
      return new Make(text(in), in.readInt(), in.readLong(), in.readInt(), in.readInt(), text(in));
    }

    @Override
    public int kind() {
      return KIND;
    }

    @Override
    public void apply(FileTree tree) throws ErrnoException {
      tree.make(path, mode, device, uid, gid, target);
    }

    @Override
    public List<String> paths() {
      return List.of(path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, path);
      out.writeInt(mode);
      out.writeLong(device);
      out.writeInt(uid);
      out.writeInt(gid);
      text(out, target);
    }

    @Override
    public boolean isRepeatable() {
      return false;
    }

    /** The name may be there without its owner and mode yet: they are set again. */
    @Override
    public boolean isApplied(FileTree tree, long witness) throws ErrnoException {
      if (tree.find(path).isEmpty()) {
        return false;
      }
      tree.giveAway(path, mode, uid, gid);
      return true;
    }
  }

  /** Another name of a file. */
  record Link(String existing, String path) implements Operation {
    static final int KIND = 2;

    static Link decode(DataInput in) throws IOException {
      return new Link(text(in), text(in));
    }

    @Override
    public int kind() {
      return KIND;
    }

    @Override
    public void apply(FileTree tree) throws ErrnoException {
      tree.link(existing, path);
    }

    @Override
    public List<String> paths() {
      return List.of(existing, path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, existing);
      text(out, path);
    }

    @Override
    public boolean isRepeatable() {
      return false;
    }

    @Override
    public boolean isApplied(FileTree tree, long witness) throws ErrnoException {
      return tree.find(path).isPresent();
    }
  }

  /** A name is removed. */
  record Remove(String path, boolean directory) implements Operation {
    static final int KIND = 3;

    static Remove decode(DataInput in) throws IOException {
      return new Remove(text(in), in.readBoolean());
    }

    @Override
    public int kind() {
      return KIND;
    }

    @Override
    public void apply(FileTree tree) throws ErrnoException {
      tree.remove(path, directory);
    }

    @Override
    public List<String> paths() {
      return List.of(path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, path);
      out.writeBoolean(directory);
    }

    @Override
    public boolean isRepeatable() {
      return false;
    }

    @Override
    public boolean isApplied(FileTree tree, long witness) throws ErrnoException {
      return tree.find(path).isEmpty();
    }
  }

  /**
   * A file or a directory gets another name, perhaps over another.
   *
   * @param flags of renameat2
   */
  record Rename(String from, String to, int flags) implements Operation {
    static final int KIND = 4;

    static final int NOREPLACE = 1;
    static final int EXCHANGE = 2;

    /** Returns the path that something has behind the operation. */
    String after(String path) {
      if (path.equals(from) || path.startsWith(from + "/")) {
        return to + path.substring(from.length());
      }
      boolean exchanges = (flags & EXCHANGE) != 0;
      boolean other = exchanges && (path.equals(to) || path.startsWith(to + "/"));
      return other ? from + path.substring(to.length()) : path;
    }

    static Rename decode(DataInput in) throws IOException {
      return new Rename(text(in), text(in), in.readInt());
    }

    @Override
    public int kind() {
      return KIND;
    }

    @Override
    public void apply(FileTree tree) throws ErrnoException {
      // NFS and FUSE do not know the flag; nobody else changes the tree meanwhile
      if ((flags & NOREPLACE) != 0 && tree.find(to).isPresent()) {
        throw ErrnoException.of(Errno.EEXIST, to);
      }
      tree.rename(from, to, flags & EXCHANGE);
    }

    @Override
    public List<String> paths() {
      return List.of(from, to);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, from);
      text(out, to);
      out.writeInt(flags);
    }

    @Override
    public boolean isRepeatable() {
      return false;
    }

    @Override
    public long witness(FileTree tree) throws ErrnoException {
      return tree.stat(from).inode();
    }

    @Override
    public boolean isApplied(FileTree tree, long witness) throws ErrnoException {
      Optional<Stat> there = tree.find(to);
      boolean isAway = (flags & EXCHANGE) == 0 && tree.find(from).isEmpty();
      return there.isPresent() && (isAway || there.get().inode() == witness);
    }
  }

  /**
   * Other permissions, owners or times.
   *
   * @param mode permissions, or -1 to leave them
   * @param uid owner, or -1 to leave it; {@code gid} too
   * @param accessed nanoseconds of the epoch, or {@link FileTree#OMIT}; {@code modified} too
   */
  record Attributes(String path, int mode, int uid, int gid, long accessed, long modified)
      implements Operation {
    static final int KIND = 5;

    static Attributes decode(DataInput in) throws IOException {
      return new Attributes(
          text(in), in.readInt(), in.readInt(), in.readInt(), in.readLong(), in.readLong());
    }

    @Override
    public int kind() {
      return KIND;
    }

    @Override
    public void apply(FileTree tree) throws ErrnoException {
      if (uid != -1 || gid != -1) {
        tree.own(path, uid, gid);
      }
      if (mode != -1) {
        tree.chmod(path, mode);
      }
      if (accessed != FileTree.OMIT || modified != FileTree.OMIT) {
        tree.times(path, accessed, modified);
      }
    }

    @Override
    public List<String> paths() {
      return List.of(path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, path);
      out.writeInt(mode);
      out.writeInt(uid);
      out.writeInt(gid);
      out.writeLong(accessed);
      out.writeLong(modified);
    }
  }

  /** Another size of a regular file. */
  record Resize(String path, long size) implements Operation {
    static final int KIND = 6;

    static Resize decode(DataInput in) throws IOException {
      return new Resize(text(in), in.readLong());
    }

    @Override
    public int kind() {
      return KIND;
    }

    @Override
    public void apply(FileTree tree) throws ErrnoException {
      tree.resize(path, size);
    }

    @Override
    public List<String> paths() {
      return List.of(path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, path);
      out.writeLong(size);
    }
  }

  /** A range is allocated, punched or zeroed. */
  record Allocate(String path, int mode, long offset, long length) implements Operation {
    static final int KIND = 7;

    static final int KEEP_SIZE = 1;
    static final int PUNCH_HOLE = 2;
    static final int ZERO_RANGE = 16;

    static Allocate decode(DataInput in) throws IOException {
      return new Allocate(text(in), in.readInt(), in.readLong(), in.readLong());
    }

    @Override
    public int kind() {
      return KIND;
    }

    @Override
    public void apply(FileTree tree) throws ErrnoException {
      tree.allocate(path, mode, offset, length);
    }

    @Override
    public List<String> paths() {
      return List.of(path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, path);
      out.writeInt(mode);
      out.writeLong(offset);
      out.writeLong(length);
    }
  }

  /**
   * Bytes were written.
   *
   * @param inode the file at the front
   * @param checksum CRC32C of the bytes
   */
  record Write(String path, long inode, long offset, int length, int checksum)
      implements Operation {
    static final int KIND = 8;

    static Write decode(DataInput in) throws IOException {
      return new Write(text(in), in.readLong(), in.readLong(), in.readInt(), in.readInt());
    }

    @Override
    public int kind() {
      return KIND;
    }

    /** Never called: whoever applies operations fetches the bytes first. */
    @Override
    public void apply(FileTree tree) {
      throw new IllegalStateException("a write needs its bytes");
    }

    @Override
    public List<String> paths() {
      return List.of(path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, path);
      out.writeLong(inode);
      out.writeLong(offset);
      out.writeInt(length);
      out.writeInt(checksum);
    }

    long end() {
      return offset + length;
    }
  }

  /** An extended attribute is set. The value has a character for each byte. */
  record SetXattr(String path, String name, String value, int flags) implements Operation {
    static final int KIND = 9;

    static SetXattr decode(DataInput in) throws IOException {
      return new SetXattr(text(in), text(in), text(in), in.readInt());
    }

    @Override
    public int kind() {
      return KIND;
    }

    @Override
    public void apply(FileTree tree) throws ErrnoException {
      tree.setXattr(path, name, FileTree.textAsBytes(value), flags);
    }

    @Override
    public int weight() {
      return Operation.super.weight() + name.length() + value.length();
    }

    @Override
    public List<String> paths() {
      return List.of(path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, path);
      text(out, name);
      text(out, value);
      out.writeInt(flags);
    }
  }

  /** An extended attribute is removed. */
  record RemoveXattr(String path, String name) implements Operation {
    static final int KIND = 10;

    static RemoveXattr decode(DataInput in) throws IOException {
      return new RemoveXattr(text(in), text(in));
    }

    @Override
    public int kind() {
      return KIND;
    }

    /** The attribute may be gone: a killed process may have applied the operation. */
    @Override
    public void apply(FileTree tree) throws ErrnoException {
      try {
        tree.removeXattr(path, name);
      } catch (ErrnoException e) {
        if (!e.is(Errno.ENODATA)) {
          throw e;
        }
      }
    }

    @Override
    public int weight() {
      return Operation.super.weight() + name.length();
    }

    @Override
    public List<String> paths() {
      return List.of(path);
    }

    @Override
    public void encode(DataOutput out) throws IOException {
      text(out, path);
      text(out, name);
    }
  }

  /** Writes a text of Latin-1 characters. */
  private static void text(DataOutput out, String text) throws IOException {
    byte[] bytes = FileTree.textAsBytes(text);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static String text(DataInput in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > LARGEST_TEXT) {
      throw new IOException("a text of " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return FileTree.bytesAsText(bytes);
  }

  /** More than the longest value of an extended attribute, and than a path of any depth in use. */
  int LARGEST_TEXT = 1 << 20;
}
