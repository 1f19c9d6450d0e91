package io.holdfast.fs.tree;

import java.util.ArrayList;
import java.util.List;

/**
 * One passage over the entries of a directory. A file that gets another version gets another node,
 * which comes last. A passage that found only the old one, which is shown no more, and came to the
 * end before the new one did, would miss a name that was there all the time. So it waits for it,
 * and goes on. For one thread.
 */
final class Passage {
  private final Tree tree;
  private final Node directory;
  private final Tree.EntryTaker taker;
  private final List<byte[]> changing = new ArrayList<>(0);
  private long last;
  private boolean enough;

  Passage(Tree tree, Node directory, Tree.EntryTaker taker) {
    this.tree = tree;
    this.directory = directory;
    this.taker = taker;
  }

  /** Passes the entries behind one of them, or all behind 0. */
  void pass(long after) {
    last = after;
    do {
      changing.clear();
      tree.nodes().forEachEntry(directory.id(), last, this::take);
      changing.forEach(name -> tree.settled(directory, name));
    } while (!enough && !changing.isEmpty());
  }

  private boolean take(long id) {
    if (tree.isCurrent(id)) {
      enough = !taker.take(new Node(tree.nodes(), id));
    } else if (tree.isChanging(id)) {
      changing.add(tree.nodes().name(id));
    }
    last = id;
    return !enough;
  }
}
