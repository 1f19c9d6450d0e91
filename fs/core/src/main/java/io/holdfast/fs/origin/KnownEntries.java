package io.holdfast.fs.origin;

import org.jspecify.annotations.Nullable;

/**
 * The known attributes of a directory's entries, so that the store need not be asked for attributes
 * that cannot have changed. Thread-safe.
 */
@FunctionalInterface
public interface KnownEntries {
  /** Knows no entries. */
  KnownEntries NONE = name -> null;

  /** Returns the attributes that the store reported last for a name, or null. */
  @Nullable Attributes attributes(byte[] name);
}
