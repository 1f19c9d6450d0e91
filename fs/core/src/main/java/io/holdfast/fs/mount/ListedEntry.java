package io.holdfast.fs.mount;

import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.origin.Attributes;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a directory, as a listing shows it. Immutable but for its name, which nobody changes.
 */
public final class ListedEntry {
  private final byte[] name;
  private final long place;
  private final int type;
  private final long inode;
  private final @Nullable Entry leads;

  /** Creates an entry whose attributes are not known. */
  public ListedEntry(byte[] name, long place, int type, long inode) {
    this(name, place, type, inode, null);
  }

  /** Creates an entry with the node that it leads to. */
  public ListedEntry(byte[] name, long place, Entry leads) {
    this(name, place, leads.attributes().type(), leads.attributes().inode(), leads);
  }

  private ListedEntry(byte[] name, long place, int type, long inode, @Nullable Entry leads) {
    this.name = name;
    this.place = place;
    this.type = type;
    this.inode = inode;
    this.leads = leads;
  }

  public byte[] name() {
    return name;
  }

  /** Returns its place in the listing: above 0, and the same for as long as the entry exists. */
  public long place() {
    return place;
  }

  /** Returns its type as in {@link Attributes#type()}, or 0 if that is not known. */
  public int type() {
    return type;
  }

  /** Returns its inode number. */
  public long inode() {
    return inode;
  }

  /** Returns the node that the name leads to, or null if that is not known. */
  public @Nullable Entry leads() {
    return leads;
  }
}
