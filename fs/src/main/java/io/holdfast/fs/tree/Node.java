package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the dataset: one name with, for a regular file, one version of its content. When the
 * content gets another version, another node takes the name and this one is stale for ever, so
 * whoever holds a node can never mix two versions. Only a handle: what it tells is in the {@link
 * NodeTable}. Thread-safe.
 */
public final class Node {
  private final NodeTable table;
  private final long id;

  Node(NodeTable table, long id) {
    this.table = table;
    this.id = id;
  }

  /**
   * Returns the number that names this node for the life of the mount; never used again for another
   * one.
   */
  public long id() {
    return id;
  }

  /** Returns the directory that holds this entry, or null for the root. */
  public @Nullable Node parent() {
    long parent = table.parent(id);
    return parent == 0 ? null : new Node(table, parent);
  }

  /** Returns the entry's name. */
  public byte[] name() {
    return table.name(id);
  }

  /** Returns what stat says, as of the last time the origin was asked. */
  public Attributes attributes() {
    return table.attributes(id);
  }

  /** Returns the type alone, as in {@link Attributes#type()}. */
  public int type() {
    return table.type(id);
  }

  /** Returns the inode number at the origin alone. */
  public long inode() {
    return table.inode(id);
  }

  /** Returns the version of the content that this node stands for. */
  public Version version() {
    return attributes().version();
  }

  /** Tells whether the name leads elsewhere, or nowhere, by now. */
  public boolean isStale() {
    return table.isStale(id);
  }

  /** Returns the place at the origin. */
  public OriginPath path() {
    int length = -1;
    for (long at = id; table.parent(at) != 0; at = table.parent(at)) {
      length += table.nameLength(at) + 1;
    }
    if (length < 0) {
      return OriginPath.ROOT;
    }
    byte[] path = new byte[length];
    int end = length;
    for (long at = id; table.parent(at) != 0; at = table.parent(at)) {
      end -= table.nameLength(at);
      table.copyName(at, path, end);
      if (end > 0) {
        end--;
        path[end] = '/';
      }
    }
    return OriginPath.of(path);
  }

  /** Tells whether this is the node itself or something below it. */
  public boolean isWithin(Node ancestor) {
    for (long at = id; at != 0; at = table.parent(at)) {
      if (at == ancestor.id) {
        return true;
      }
    }
    return false;
  }

  void update(Attributes fresh) throws FsException {
    table.update(id, fresh);
  }

  void markStale() {
    table.markStale(id);
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
