package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.util.ArrayList;
import java.util.List;

/**
 * Iterates over the entries of a directory. A file with a new version gets a new node at the end of
 * the directory. An iteration might see only the stale node, skip it, and reach the end before the
 * new node is added; it would miss a name that existed all the time. So the cursor waits for such a
 * name to settle, and continues. For one thread.
 */
final class DirectoryCursor {
  private final NodeTable nodes;
  private final Names names;
  private final Node directory;
  private final Tree.EntryTaker taker;
  private final List<byte[]> changing = new ArrayList<>(0);
  private long last;
  private boolean enough;

  DirectoryCursor(NodeTable nodes, Names names, Node directory, Tree.EntryTaker taker) {
    this.nodes = nodes;
    this.names = names;
    this.directory = directory;
    this.taker = taker;
  }

  /**
   * Passes the entries behind one of them, or all behind 0.
   *
   * @throws FsException STALE where the directory has gone meanwhile, and its entries with it
   */
  void pass(long after) throws FsException {
    last = after;
    do {
      changing.clear();
      nodes.forEachEntry(directory.id(), last, this::take);
      for (byte[] name : changing) {
        names.awaitSettled(directory, name);
      }
    } while (!enough && !changing.isEmpty());
    // it goes before its entries do
    if (!enough && directory.isStale()) {
      throw new FsException(FsError.STALE, directory.path() + ": replaced at the origin");
    }
  }

  private boolean take(long id) {
    if (!nodes.isStale(id)) {
      Node entry = nodes.node(id);
      enough = entry != null && !taker.take(entry);
    }
    // also where it became the old one just now, and was not shown any more
    if (names.isChanging(id)) {
      changing.add(nodes.name(id));
    }
    last = id;
    return !enough;
  }
}
