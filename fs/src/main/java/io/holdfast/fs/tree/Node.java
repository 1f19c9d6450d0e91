package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the dataset: one name with, for a regular file, one version of its content. When the
 * content gets another version, another node takes the name and this one is stale for ever, so
 * whoever holds a node can never mix two versions. Only a handle: what it tells is in the {@link
 * NodeTable}, which keeps that for as long as somebody has the handle. Thread-safe.
 */
public final class Node {
  private final NodeTable table;
  private final long id;

  /** Holds what the table has of the node, and of its directories. */
  private final Block block;

  Node(NodeTable table, long id, Block block) {
    this.table = table;
    this.id = id;
    this.block = block;
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
    try {
      return table.node(table.parent(id));
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the entry's name. */
  public byte[] name() {
    try {
      return table.name(id);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns what stat says, as of the last time the origin was asked. */
  public Attributes attributes() {
    try {
      return table.attributes(id);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the type alone, as in {@link Attributes#type()}. */
  public int type() {
    try {
      return table.type(id);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the inode number at the origin alone. */
  public long inode() {
    try {
      return table.inode(id);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the version of the content that this node stands for. */
  public Version version() {
    return attributes().version();
  }

  /** Tells whether the name leads elsewhere, or nowhere, by now. */
  public boolean isStale() {
    try {
      return table.isStale(id);
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Returns the place at the origin. */
  public OriginPath path() {
    try {
      return pathOfHeld();
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  private OriginPath pathOfHeld() {
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

  /** Nobody finds it any more. */
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
