package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Stores attributes that many nodes have in common once each, with a count of the nodes. A set of
 * such attributes is a shape. When the last node with a shape goes, the shape's place is reused. A
 * place is a page's number times 128 plus the index in the page, from 1; in it:
 *
 * <pre>
 *   0 mode u32   4 links u32   8 uid u32   12 gid u32   16 device u64   24 acl u16
 * </pre>
 *
 * <p>Thread-safe. The monitor guards the counts and the shapes; a caller that holds a node may read
 * the node's shape without the monitor. The monitor of {@link Blocks} is taken under this one.
 */
final class SharedAttributes {
  static final int MODE = 0;
  static final int LINKS = 4;
  static final int UID = 8;
  static final int GID = 12;
  static final int DEVICE = 16;
  static final int ACL = 24;

  private static final int BYTES = 32;
  private static final int IN_PAGE = Blocks.SIZE / BYTES;

  private final Blocks blocks;
  private final Map<Shape, Use> uses = new HashMap<>();
  private final Deque<Integer> free = new ArrayDeque<>();
  private volatile boolean hasAcls;

  private record Shape(int mode, int links, int uid, int gid, long device, int acl) {}

  private static final class Use {
    final int place;
    int count;

    Use(int place) {
      this.place = place;
    }
  }

  SharedAttributes(Blocks blocks) {
    this.blocks = blocks;
  }

  /** Returns the address of a shape. */
  long at(int place) {
    return blocks.address(Integer.toUnsignedLong(place) * BYTES);
  }

  /**
   * Counts one more node with these attributes' shape, and returns the shape's place.
   *
   * @throws FsException NO_MEMORY where there is no room
   */
  synchronized int take(Attributes attributes) throws FsException {
    Shape shape =
        new Shape(
            attributes.mode(),
            attributes.links(),
            attributes.uid(),
            attributes.gid(),
            attributes.device(),
            attributes.acl());
    Use use = uses.get(shape);
    if (use == null) {
      if (free.isEmpty()) {
        addFree(blocks.takeForShapes());
      }
      use = new Use(free.remove());
      put(at(use.place), shape);
      know(shape, use);
    }
    use.count++;
    return use.place;
  }

  private void addFree(int page) {
    for (int i = 1; i < IN_PAGE; i++) {
      free.add(page * IN_PAGE + i);
    }
  }

  private void know(Shape shape, Use use) {
    uses.put(shape, use);
    hasAcls |= Acl.isPosix(shape.acl);
  }

  private static void put(long at, Shape shape) {
    Memory.putInt(at + MODE, shape.mode);
    Memory.putInt(at + LINKS, shape.links);
    Memory.putInt(at + UID, shape.uid);
    Memory.putInt(at + GID, shape.gid);
    Memory.putLong(at + DEVICE, shape.device);
    Memory.putShort(at + ACL, shape.acl);
  }

  private static Shape shape(long at) {
    return new Shape(
        Memory.getInt(at + MODE),
        Memory.getInt(at + LINKS),
        Memory.getInt(at + UID),
        Memory.getInt(at + GID),
        Memory.getLong(at + DEVICE),
        Memory.getShort(at + ACL));
  }

  /** Counts a node that was found in memory with this shape. */
  synchronized void found(int place) {
    Shape shape = shape(at(place));
    Use use = uses.get(shape);
    if (use == null) {
      use = new Use(place);
      know(shape, use);
    }
    use.count++;
  }

  /** Finds the places that no found node uses. */
  synchronized void findFree() {
    blocks.shapePages().forEach(this::addFree);
    free.removeIf(
        place -> {
          Use use = uses.get(shape(at(place)));
          return use != null && use.place == place;
        });
  }

  /** Counts one node less with this shape. */
  synchronized void release(int place) {
    Shape shape = shape(at(place));
    Use use = uses.get(shape);
    if (use == null || use.place != place) {
      throw new IllegalStateException("nothing has shape " + place);
    }
    use.count--;
    if (use.count == 0) {
      uses.remove(shape);
      free.add(place);
    }
  }

  /** Tells whether a node has had an access control list that the kernel can evaluate. */
  boolean hasAcls() {
    return hasAcls;
  }
}
