package io.holdfast.fs.origin;

import org.jspecify.annotations.Nullable;

/**
 * What is known of a directory's entries, so that a store is asked only for what may have changed.
 * Thread-safe.
 */
@FunctionalInterface
public interface KnownEntries {
  /** Nothing. */
  KnownEntries NONE = name -> null;

  /** Returns what was told last of the entry of a name, or null. */
  @Nullable Attributes attributes(byte[] name);
}
