package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.util.ArrayList;
import java.util.List;

/**
 * The directories that lead to an entry. The kernel lets users through them by the attributes that
 * it was told last. So what is below them may be shown only when they are what it was told: the
 * same directories, with the same rights. Their other attributes change with every name, and do not
 * count. Thread-safe.
 */
final class Way {
  private final Tree.ChangeListener listener;

  /** Held while a directory's rights are known to the tree, and not yet to the listener. */
  private final Object telling = new Object();

  private volatile boolean isTelling;

  Way(Tree.ChangeListener listener) {
    this.listener = listener;
  }

  /**
   * Returns what is known of a directory and those above it, the nearest first.
   *
   * @param all whether of those above it
   */
  List<Attributes> known(Node directory, boolean all) {
    if (!all) {
      return List.of(directory.attributes());
    }
    List<Attributes> known = new ArrayList<>();
    for (Node at = directory; at != null; at = at.parent()) {
      known.add(at.attributes());
    }
    return known;
  }

  /** Tells whether directories are what they were, as far as the origin tells of them. */
  boolean isAsKnown(Node directory, List<Attributes> way) {
    Node at = directory;
    for (Attributes fresh : way) {
      if (at == null) {
        return false;
      }
      Attributes known = at.attributes();
      if (!known.sameEntry(fresh) || !known.sameRights(fresh)) {
        return false;
      }
      at = at.parent();
    }
    awaitTold();
    return true;
  }

  private void awaitTold() {
    if (isTelling) {
      synchronized (telling) {
        return; // whoever was telling has done so
      }
    }
  }

  /**
   * Gives a directory other attributes, with other rights, and has them asked for.
   *
   * @return false where it has got others than those that were known
   */
  boolean update(Node directory, Attributes known, Attributes fresh) throws FsException {
    synchronized (telling) {
      isTelling = true;
      try {
        listener.willHaveOtherRights(directory, fresh);
        return directory.update(known, fresh);
      } finally {
        listener.otherRights(directory);
        isTelling = false;
      }
    }
  }
}
