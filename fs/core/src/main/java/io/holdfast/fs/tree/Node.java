package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the dataset: one name and, for a regular file, one version of the content. When the
 * content gets another version, another node takes the name and this node is stale for ever. So a
 * caller that holds a node can never mix two versions. A node is only a handle: the {@link
 * NodeTable} stores the node's record and keeps it for as long as the handle is reachable.
 * Thread-safe.
 */
public final class Node {
  private final NodeTable table;
  private final long id;

  /** Keeps the node's record, and the records of its directories, from being reused. */
  private final Block block;

  Node(NodeTable table, long id, Block block) {
    this.table = table;
    this.id = id;
    this.block = block;
  }

  /** Returns the id of this node for the life of the mount; no other node ever gets the same id. */
  public long id() {
    return id;
  }

  /** Returns the directory that holds this entry, or null for the root. */
  public @Nullable Node parent() {
    try {
      return table.node(NodeRecord.parent(record()));
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the entry's name. */
  public byte[] name() {
    try {
      return Memory.bytes(NodeRecord.name(record()), NodeRecord.nameLength(record()));
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the attributes as of the last answer of the origin. */
  public Attributes attributes() {
    return table.attributes(block, id);
  }

  /** Returns only the type, as in {@link Attributes#type()}; it never changes. */
  public int type() {
    try {
      return NodeRecord.type(record());
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns only the inode number at the origin. */
  public long inode() {
    try {
      return NodeRecord.inode(record());
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the version of the content that this node stands for. */
  public Version version() {
    return attributes().version();
  }

  /** Tells whether the name leads to another node, or to none, by now. */
  public boolean isStale() {
    try {
      return NodeRecord.has(record(), NodeRecord.STALE);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the path at the origin. */
  public OriginPath path() {
    try {
      return pathOfHeld();
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  private OriginPath pathOfHeld() {
    int length = -1;
    for (long at = record(); NodeRecord.parent(at) != 0; at = directoryOf(at)) {
      length += NodeRecord.nameLength(at) + 1;
    }
    if (length < 0) {
      return OriginPath.ROOT;
    }
    byte[] path = new byte[length];
    int end = length;
    for (long at = record(); NodeRecord.parent(at) != 0; at = directoryOf(at)) {
      int count = NodeRecord.nameLength(at);
      end -= count;
      Memory.get(NodeRecord.name(at), path, end, count);
      if (end > 0) {
        end--;
        path[end] = '/';
      }
    }
    return OriginPath.of(path);
  }

  private long record() {
    return NodeTable.at(block, id);
  }

  /** Returns the record of an entry's directory, whose block the entry's block holds. */
  private long directoryOf(long record) {
    long directory = NodeRecord.parent(record);
    return NodeTable.at(table.held(directory), directory);
  }

  /** Tells whether this node is the given one or below it. */
  public boolean isWithin(Node ancestor) {
    try {
      long at = id;
      while (at != 0 && at != ancestor.id) {
        at = table.parent(at);
      }
      return at != 0;
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** As {@link NodeTable#update}. */
  boolean update(Attributes known, Attributes fresh) throws FsException {
    try {
      return table.update(id, known, fresh);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Marks the node as unreachable by its name. */
  void discard() {
    try {
      table.discard(id);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  void markStale() {
    try {
      table.markStale(id);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Node node && id == node.id && table == node.table;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(id);
  }

  @Override
  public String toString() {
    return id + ":" + new String(path().bytes(), StandardCharsets.UTF_8);
  }
}
