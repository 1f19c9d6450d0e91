package io.holdfast.fs.tree;

import static io.holdfast.fs.tree.ImageRecords.FLAG_DEVICE;
import static io.holdfast.fs.tree.ImageRecords.FLAG_ETAG;
import static io.holdfast.fs.tree.ImageRecords.FLAG_GENERATION;
import static io.holdfast.fs.tree.ImageRecords.FLAG_LISTED;
import static io.holdfast.fs.tree.ImageRecords.FLAG_ONE_TIME;
import static io.holdfast.fs.tree.ImageRecords.FLAG_SAME_DIRECTORY;
import static io.holdfast.fs.tree.ImageRecords.FLAG_SAME_OWNER;

import io.holdfast.fs.origin.Attributes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes the records of a {@link TreeImage}, once. If the tree changes meanwhile, the image marks
 * no directory as listed completely: an entry that was replaced may be missing.
 *
 * <p>Takes 8 bytes of memory a directory, besides the block. Not thread-safe.
 */
final class ImageWriter {
  private static final int FIRST_DIRECTORIES = 1024;

  private final NodeTable nodes;
  private final ListingTimes listings;

  /** The ids of the directories written so far, ascending; the index is the directory's number. */
  private long[] directories = new long[FIRST_DIRECTORIES];

  private int count;
  private long directory = Tree.ROOT;
  private Attributes before = ImageRecords.NOTHING;
  private long entries;

  ImageWriter(NodeTable nodes, ListingTimes listings) {
    this.nodes = nodes;
    this.listings = listings;
  }

  /** Writes all records and returns the number of entries. */
  long write(BlockOutput output) throws IOException {
    long changes = nodes.changes();
    directories[count++] = Tree.ROOT;
    try {
      nodes.forEach(id -> entry(id, output));
    } catch (UncheckedIOException e) {
      throw new IOException(e.getCause().getMessage(), e);
    }
    if (nodes.changes() == changes) {
      listed(output);
    }
    output.flush();
    return entries;
  }

  private void entry(long id, BlockOutput output) {
    if (id == Tree.ROOT || nodes.isStale(id)) {
      return;
    }
    long parent = nodes.parent(id);
    int number = parent == directory ? 0 : number(parent);
    if (number < 0) {
      return; // removed meanwhile, with its directory
    }
    try {
      output.beginRecord();
      Attributes attributes = nodes.attributes(id);
      int flags = flags(attributes) | (parent == directory ? FLAG_SAME_DIRECTORY : 0);
      output.putByte(flags);
      if (parent != directory) {
        output.putNumber(number);
      }
      output.putBytes(nodes.name(id));
      put(attributes, flags, output);
      directory = parent;
      before = attributes;
      entries++;
      if (attributes.isDirectory()) {
        add(id);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int number(long id) {
    return Arrays.binarySearch(directories, 0, count, id);
  }

  private void add(long id) {
    if (count == directories.length) {
      directories = Arrays.copyOf(directories, 2 * count);
    }
    directories[count++] = id;
  }

  private int flags(Attributes a) {
    boolean sameOwner =
        a.mode() == before.mode()
            && a.links() == before.links()
            && a.uid() == before.uid()
            && a.gid() == before.gid()
            && a.acl() == before.acl();
    boolean oneTime = a.accessed() == a.modified() && a.changed() == a.modified();
    return (sameOwner ? FLAG_SAME_OWNER : 0)
        | (oneTime ? FLAG_ONE_TIME : 0)
        | (a.device() == 0 ? 0 : FLAG_DEVICE)
        | (a.etag().isEmpty() ? 0 : FLAG_ETAG)
        | (a.generation() == 0 ? 0 : FLAG_GENERATION);
  }

  private void put(Attributes a, int flags, BlockOutput output) {
    if ((flags & FLAG_SAME_OWNER) == 0) {
      output.putNumber(a.mode());
      output.putNumber(a.links());
      output.putNumber(Integer.toUnsignedLong(a.uid()));
      output.putNumber(Integer.toUnsignedLong(a.gid()));
      output.putNumber(a.acl());
    }
    output.putNumber(a.size());
    output.putSigned(a.inode() - before.inode());
    output.putSigned(a.blocks() - ImageRecords.blocks(a.size()));
    output.putSigned(a.modified() - before.modified());
    if ((flags & FLAG_ONE_TIME) == 0) {
      output.putSigned(a.accessed() - a.modified());
      output.putSigned(a.changed() - a.modified());
    }
    if ((flags & FLAG_DEVICE) != 0) {
      output.putNumber(a.device());
    }
    if ((flags & FLAG_ETAG) != 0) {
      output.putBytes(a.etag().getBytes(StandardCharsets.UTF_8));
    }
    if ((flags & FLAG_GENERATION) != 0) {
      output.putNumber(Integer.toUnsignedLong(a.generation()));
    }
  }

  private void listed(BlockOutput output) throws IOException {
    int numberBefore = 0;
    long timeBefore = 0;
    long changedBefore = 0;
    for (int i = 0; i < count; i++) {
      long at = listings.listedAt(directories[i]);
      if (at != 0) {
        output.beginRecord();
        output.putByte(FLAG_LISTED);
        output.putNumber(i - numberBefore);
        long changed = listings.listedChanged(directories[i]);
        output.putSigned(at - timeBefore);
        output.putSigned(changed - changedBefore);
        numberBefore = i;
        timeBefore = at;
        changedBefore = changed;
      }
    }
  }
}
