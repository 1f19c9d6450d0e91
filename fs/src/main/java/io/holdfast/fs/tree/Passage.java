package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.util.ArrayList;
import java.util.List;

/**
 * One passage over the entries of a directory. A file that gets another version gets another node,
 * which comes last. A passage that found only the old one, which is shown no more, and came to the
 * end before the new one did, would miss a name that was there all the time. So it waits for it,
 * and goes on. For one thread.
 */
final class Passage {
  private final NodeTable nodes;
  private final Names names;
  private final Node directory;
  private final Tree.EntryTaker taker;
  private final List<byte[]> changing = new ArrayList<>(0);
  private long last;
  private boolean enough;

  Passage(NodeTable nodes, Names names, Node directory, Tree.EntryTaker taker) {
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
