package io.holdfast.fs.tree;

import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the dataset: one name with, for a regular file, one version of its content. When the
 * content gets another version, another node takes the name and this one is stale for ever, so
 * whoever holds a node can never mix two versions. Thread-safe.
 */
public final class Node {
  private final long id;
  private final @Nullable Node parent;
  private final byte[] name;
  private volatile Attributes attributes;
  private volatile boolean stale;

  Node(long id, @Nullable Node parent, byte[] name, Attributes attributes) {
    this.id = id;
    this.parent = parent;
    this.name = name;
    this.attributes = attributes;
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
    return parent;
  }

  /** Returns the entry's name; the caller does not change it. */
  public byte[] name() {
    return name;
  }

  /** Returns what stat says, as of the last time the origin was asked. */
  public Attributes attributes() {
    return attributes;
  }

  /** Returns the version of the content that this node stands for. */
  public Version version() {
    return attributes.version();
  }

  /** Tells whether the name leads elsewhere, or nowhere, by now. */
  public boolean isStale() {
    return stale;
  }

  /** Returns the place at the origin. */
  public OriginPath path() {
    int length = -1;
    for (Node node = this; node.parent != null; node = node.parent) {
      length += node.name.length + 1;
    }
    if (length < 0) {
      return OriginPath.ROOT;
    }
    byte[] path = new byte[length];
    int end = length;
    for (Node node = this; node.parent != null; node = node.parent) {
      System.arraycopy(node.name, 0, path, end - node.name.length, node.name.length);
      end -= node.name.length + 1;
      if (end > 0) {
        path[end] = '/';
      }
    }
    return OriginPath.of(path);
  }

  /** Tells whether this is the node itself or something below it. */
  boolean isWithin(Node ancestor) {
    for (Node node = this; node != null; node = node.parent) {
      if (node == ancestor) {
        return true;
      }
    }
    return false;
  }

  void update(Attributes fresh) {
    attributes = fresh;
  }

  void markStale() {
    stale = true;
  }

  @Override
  public String toString() {
    return id + ":" + new String(path().bytes(), StandardCharsets.UTF_8);
  }
}
