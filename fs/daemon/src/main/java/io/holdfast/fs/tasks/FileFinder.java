package io.holdfast.fs.tasks;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Finds the regular files of names, in the order of the names; a folder's files depth first. Not
 * thread-safe: it runs on the task's thread, which may wait for the origin.
 */
final class FileFinder {
  private static final byte[] NO_NAME = {};

  private final Task task;
  private final Tree tree;
  private final boolean sorted;
  private final FileIds files = new FileIds();
  private int names;
  private int missing;
  private String firstMissing = "";
  private String firstUnlisted = "";

  FileFinder(Task task) {
    this.task = task;
    this.tree = task.parts().tree();
    this.sorted =
        task.request().order() == TaskRequest.Order.NAME
            || task.request().order() == TaskRequest.Order.AUTO;
  }

  /** Adds the file at a path, or all files below a folder; the empty path is the whole dataset. */
  void add(String path) throws FsException, InterruptedException {
    names++;
    try {
      Node top = find(path);
      if (top.attributes().isDirectory()) {
        addBelow(top, files::add);
      } else if (top.attributes().isRegular()) {
        files.add(top);
      }
    } catch (FsException e) {
      if (!isMissing(e)) {
        throw e;
      }
      firstMissing = missing == 0 ? path : firstMissing;
      missing++;
    }
  }

  /**
   * Requires that a file or folder exists.
   *
   * @throws FsException NOT_FOUND where it does not
   */
  void require(String path) throws FsException {
    try {
      Node unused = find(path);
    } catch (FsException e) {
      if (!isMissing(e)) {
        throw e;
      }
      throw new FsException(e.code(), "there is no '" + path + "' in the dataset", e);
    }
  }

  private static boolean isMissing(FsException e) {
    return e.code() == FsError.NOT_FOUND || e.code() == FsError.NOT_DIRECTORY;
  }

  private Node find(String path) throws FsException {
    Node node = tree.root();
    for (String name : path.split("/", -1)) {
      if (!name.isEmpty() && !name.equals(".")) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        Node known = tree.known(node, bytes);
        node = known == null ? tree.lookupWhateverTheWay(node, bytes) : known;
      }
    }
    return node;
  }

  /** Adds the files that globs match. */
  void addGlobs(List<String> globs) throws InterruptedException {
    names += globs.size();
    Selection named = Selection.of(globs, List.of());
    addBelow(
        tree.root(),
        file -> {
          if (named.of(file.path().toString()) == Selection.Verdict.KEPT) {
            files.add(file);
          }
        });
  }

  private void addBelow(Node top, Consumer<Node> taker) throws InterruptedException {
    task.awaitListed();
    Deque<Node> left = new ArrayDeque<>();
    left.push(top);
    while (!left.isEmpty() && task.goesOn()) {
      Node next = left.pop();
      if (next.attributes().isDirectory()) {
        noteUnlisted(next);
        entries(next).forEach(left::push);
      } else if (next.attributes().isRegular()) {
        taker.accept(next);
      }
    }
  }

  /** Counts a folder that may have unknown entries, because no scan has listed it whole. */
  private void noteUnlisted(Node folder) {
    if (!task.parts().isWhole().getAsBoolean() && tree.listedAt(folder) == 0) {
      String name = folder.path().isRoot() ? "the root of the dataset" : folder.path().toString();
      firstUnlisted = firstUnlisted.isEmpty() ? name : firstUnlisted;
      task.counts().addUnlisted(name);
    }
  }

  /** Returns the entries of a folder in reverse order, for a stack. */
  private List<Node> entries(Node folder) {
    List<Map.Entry<byte[], Node>> entries = new ArrayList<>();
    tree.forEachEntry(
        folder, 0, entry -> entries.add(Map.entry(sorted ? entry.name() : NO_NAME, entry)));
    if (sorted) {
      entries.sort(Map.Entry.comparingByKey((one, other) -> Arrays.compareUnsigned(other, one)));
    }
    return entries.stream().map(Map.Entry::getValue).toList();
  }

  /**
   * Returns the files that were found, each once.
   *
   * @throws FsException NOT_FOUND where a name does not exist, or where there are no files at all;
   *     IO where none are known because no scan has listed a folder whole
   */
  FileIds found() throws FsException {
    if (missing > 0) {
      throw new FsException(
          FsError.NOT_FOUND,
          names == 1
              ? "there is no '" + firstMissing + "' in the dataset"
              : "%d of %d names are not in the dataset, such as '%s'"
                  .formatted(missing, names, firstMissing));
    }
    FileIds found = names > 1 ? files.withoutRepeats() : files;
    if (found.size() == 0 && task.goesOn() && !firstUnlisted.isEmpty()) {
      throw new FsException(
          FsError.IO,
          firstUnlisted + ": no scan has listed it whole (see the log), and no files are known");
    }
    if (found.size() == 0 && task.goesOn()) {
      throw new FsException(FsError.NOT_FOUND, "there are no such files in the dataset");
    }
    return found;
  }
}
