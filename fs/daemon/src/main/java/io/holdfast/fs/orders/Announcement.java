package io.holdfast.fs.orders;

import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An order while its lines arrive. Names that the tree does not know are counted and left out, and
 * the origin is not asked for them. Not thread-safe.
 */
final class Announcement {
  final long id;
  final String job;
  final String source;

  /** Whether it comes after the job's order, and not in its place. */
  final boolean then;

  final FileSequence files = new FileSequence();
  long lastPart;

  /** Draws orders from these files; null if they are an order themselves. */
  @Nullable TorchSampler sampler;

  private final Tree tree;
  private long lines;
  private long unknown;
  private String firstUnknown = "";
  private @Nullable String lastFolder;
  private @Nullable Node lastFolderNode;

  Announcement(long id, String job, String source, boolean then, Tree tree) {
    this.id = id;
    this.job = job;
    this.source = source;
    this.then = then;
    this.tree = tree;
  }

  /** Adds the files at paths below the root of the dataset. */
  void add(List<String> paths) {
    for (String path : paths) {
      lines++;
      Node file = find(path);
      if (file != null && file.attributes().isRegular() && file.id() <= FileSequence.LARGEST) {
        files.add(file.id());
      } else {
        firstUnknown = unknown == 0 ? path : firstUnknown;
        unknown++;
      }
    }
  }

  private @Nullable Node find(String path) {
    int slash = path.lastIndexOf('/');
    if (slash < 0) {
      return known(tree.root(), path);
    }
    String folder = path.substring(0, slash);
    if (!folder.equals(lastFolder)) {
      lastFolder = folder;
      lastFolderNode = tree.root();
      for (String name : folder.split("/", -1)) {
        lastFolderNode = lastFolderNode == null ? null : known(lastFolderNode, name);
      }
    }
    return lastFolderNode == null ? null : known(lastFolderNode, path.substring(slash + 1));
  }

  private @Nullable Node known(Node folder, String name) {
    return folder.attributes().isDirectory()
        ? tree.known(folder, name.getBytes(StandardCharsets.UTF_8))
        : null;
  }

  long lines() {
    return lines;
  }

  String firstUnknown() {
    return firstUnknown;
  }

  /** Returns what the client learns of it. */
  Map<String, Object> describe() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("id", id);
    all.put("job", job);
    all.put("source", source);
    all.put("lines", lines);
    all.put("files", files.size());
    all.put("unknown", unknown);
    if (unknown > 0) {
      all.put("first_unknown", firstUnknown);
    }
    return all;
  }
}
