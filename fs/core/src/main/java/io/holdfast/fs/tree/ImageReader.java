package io.holdfast.fs.tree;

import static io.holdfast.fs.tree.ImageRecords.FLAGS_END;
import static io.holdfast.fs.tree.ImageRecords.FLAG_DEVICE;
import static io.holdfast.fs.tree.ImageRecords.FLAG_ETAG;
import static io.holdfast.fs.tree.ImageRecords.FLAG_GENERATION;
import static io.holdfast.fs.tree.ImageRecords.FLAG_LISTED;
import static io.holdfast.fs.tree.ImageRecords.FLAG_ONE_TIME;
import static io.holdfast.fs.tree.ImageRecords.FLAG_SAME_DIRECTORY;
import static io.holdfast.fs.tree.ImageRecords.FLAG_SAME_OWNER;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads the records of a {@link TreeImage}, once. Not thread-safe. */
final class ImageReader {
  private static final int FIRST_DIRECTORIES = 1024;

  private final BlockInput input;
  private final TreeImage.Sink sink;

  /** The sink's ids of the directories, by number. */
  private long[] directories = new long[FIRST_DIRECTORIES];

  private int count;
  private long directory = Tree.ROOT;
  private Attributes before = ImageRecords.NOTHING;
  private int listed;
  private long listedAt;
  private long listedChanged;

  ImageReader(BlockInput input, TreeImage.Sink sink) {
    this.input = input;
    this.sink = sink;
  }

  void read(long expected) throws IOException, FsException {
    directories[count++] = Tree.ROOT;
    long entries = 0;
    while (input.hasRecord()) {
      int flags = input.getByte();
      if (flags == FLAG_LISTED) {
        listing();
      } else if ((flags & FLAG_LISTED) == 0 && flags < FLAGS_END) {
        entry(flags);
        entries++;
      } else {
        throw new IOException("it has a record of kind " + flags);
      }
    }
    if (entries != expected) {
      throw new IOException("it has " + entries + " entries instead of " + expected);
    }
  }

  private void entry(int flags) throws IOException, FsException {
    if ((flags & FLAG_SAME_DIRECTORY) == 0) {
      directory = directory(input.getNumber());
    }
    byte[] name = input.getBytes();
    Attributes attributes = attributes(flags);
    if (!isName(name) || attributes.size() < 0) {
      throw new IOException("it has an entry that there cannot be");
    }
    long id = sink.entry(directory, name, attributes);
    before = attributes;
    if (attributes.isDirectory()) {
      if (count == directories.length) {
        directories = Arrays.copyOf(directories, 2 * count);
      }
      directories[count++] = id;
    }
  }

  private static boolean isName(byte[] name) {
    boolean dots = name.length <= 2;
    for (byte each : name) {
      if (each == 0 || each == '/') {
        return false;
      }
      dots &= each == '.';
    }
    return !dots;
  }

  private long directory(long number) throws IOException {
    if (number < 0 || number >= count) {
      throw new IOException("it has an entry before its directory");
    }
    return directories[(int) number];
  }

  private Attributes attributes(int flags) throws IOException {
    boolean sameOwner = (flags & FLAG_SAME_OWNER) != 0;
    final int mode = sameOwner ? before.mode() : (int) input.getNumber();
    final int links = sameOwner ? before.links() : (int) input.getNumber();
    final int uid = sameOwner ? before.uid() : (int) input.getNumber();
    final int gid = sameOwner ? before.gid() : (int) input.getNumber();
    final int acl = sameOwner ? before.acl() : (int) input.getNumber();
    final long size = input.getNumber();
    final long inode = before.inode() + input.getSigned();
    final long blocks = ImageRecords.blocks(size) + input.getSigned();
    final long modified = before.modified() + input.getSigned();
    boolean oneTime = (flags & FLAG_ONE_TIME) != 0;
    final long accessed = oneTime ? modified : modified + input.getSigned();
    final long changed = oneTime ? modified : modified + input.getSigned();
    final long device = (flags & FLAG_DEVICE) == 0 ? 0 : input.getNumber();
    final String etag =
        (flags & FLAG_ETAG) == 0 ? "" : new String(input.getBytes(), StandardCharsets.UTF_8);
    final int generation = (flags & FLAG_GENERATION) == 0 ? 0 : (int) input.getNumber();
    if (generation != 0 && inode >>> Integer.SIZE != 0) {
      throw new IOException("it has a generation of an inode that has none");
    }
    return new Attributes(
        mode,
        links,
        uid,
        gid,
        device,
        inode,
        size,
        blocks,
        accessed,
        modified,
        changed,
        etag,
        generation,
        acl);
  }

  private void listing() throws IOException {
    listed += (int) input.getNumber();
    listedAt += input.getSigned();
    listedChanged += input.getSigned();
    sink.listed(directory(listed), listedAt, listedChanged);
  }
}
