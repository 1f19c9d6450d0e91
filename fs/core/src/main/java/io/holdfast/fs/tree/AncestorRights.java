package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares the directories above an entry with the attributes that the kernel has of them. The
 * kernel decides by those attributes who may pass. So entries below a directory may be shown only
 * while the origin has the same directories with the same rights. Other attributes change with
 * every name and do not count. Thread-safe.
 */
final class AncestorRights {
  private final Tree.ChangeListener listener;

  /**
   * Held from the moment the tree knows a directory's new rights until the listener has learned of
   * them.
   */
  private final Object telling = new Object();

  private volatile boolean isTelling;

  AncestorRights(Tree.ChangeListener listener) {
    this.listener = listener;
  }

  /**
   * Returns the known attributes of a directory and of its ancestors, the nearest first.
   *
   * @param all whether to include the ancestors
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

  /**
   * Tells whether directories have the rights that the tree knows. The origin may report only the
   * nearest of them.
   */
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
        return; // another thread has told the listener
      }
    }
  }

  /**
   * Gives a directory attributes with other rights, and tells the listener before and after.
   *
   * @return false where the directory's attributes were no longer the known ones
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
