package io.holdfast.fs.checkpoint;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.s3.ObjectBucket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Puts the objects of a row: under their names if the row before has no such name, else under the
 * row's keys; those whose last change came last, last. What one operation has renamed goes at once.
 *
 * <p>Before, the bucket gets a plan, a list of the keys that are written. What it names and the
 * index does not is left of a row that was not committed. Not thread-safe.
 */
final class S3RowObjects {
  private static final SecureRandom random = new SecureRandom();

  private final ObjectBucket bucket;
  private final S3Keys keys;
  private final Path directory;
  private final S3Requests requests;
  private final Set<String> planned = new HashSet<>();

  /**
   * Creates one.
   *
   * @param directory of the files with the bytes that rows change
   */
  S3RowObjects(ObjectBucket bucket, S3Keys keys, Path directory, S3Requests requests) {
    this.bucket = bucket;
    this.keys = keys;
    this.directory = directory;
    this.requests = requests;
  }

  /** Takes the plan that the bucket has. */
  void readPlan() throws FsException {
    ObjectBucket.Content plan = bucket.get(S3Keys.PLAN);
    if (plan != null) {
      planned.addAll(List.of(new String(plan.bytes(), StandardCharsets.UTF_8).split("\n", -1)));
      planned.removeAll(Set.of("", S3Keys.OWNER, S3Keys.LAST, S3Keys.INDEX, S3Keys.PLAN));
    }
  }

  /** Returns the keys that may have objects which no index names. */
  Set<String> planned() {
    return Set.copyOf(planned);
  }

  /** Notes that there are no such objects. */
  void clean() {
    planned.clear();
  }

  /** An object that a row makes. */
  private record Made(String path, S3Row.Node node, long order, String staged) {}

  /**
   * Puts the objects that the bucket does not have.
   *
   * @param between is sent before each object
   * @return the names whose objects are new, by their paths
   */
  Map<String, S3Index.Name> put(S3Row row, S3Requests.Request between) throws FsException {
    removeStaged(between);
    List<Made> all = made(row, random.nextLong());
    plan(all);
    Map<String, S3Index.Name> objects = new ConcurrentHashMap<>();
    int from = 0;
    while (from < all.size()) {
      int to = from;
      List<S3Requests.Request> group = new ArrayList<>();
      while (to < all.size() && all.get(to).order() == all.get(from).order()) {
        Made made = all.get(to++);
        group.add(
            () -> {
              between.send();
              objects.put(made.path(), put(row.before(), made));
            });
      }
      requests.all(group);
      from = to;
    }
    return objects;
  }

  /**
   * Deletes what an attempt that failed has put below its row's keys. This attempt uses other keys:
   * a store that fails again and again would get another copy each time, until its quota is full.
   */
  private void removeStaged(S3Requests.Request between) throws FsException {
    List<String> left = planned.stream().filter(key -> key.startsWith(S3Keys.ROWS)).toList();
    List<S3Requests.Request> deletions = new ArrayList<>();
    for (String key : left) {
      deletions.add(
          () -> {
            between.send();
            bucket.delete(key);
          });
    }
    requests.all(deletions);
    left.forEach(planned::remove);
  }

  private static List<Made> made(S3Row row, long attempt) {
    List<Made> all = new ArrayList<>();
    row.names()
        .forEach(
            (path, node) -> {
              S3Index.Name old = row.before().find(path);
              boolean same = old != null && old.id() == node.id && !node.isLocal();
              if (node.isRegular() && !same) {
                all.add(new Made(path, node, row.order(path), ""));
              }
            });
    all.sort(Comparator.comparingLong(Made::order));
    for (int i = 0; i < all.size(); i++) {
      Made made = all.get(i);
      if (isInTheWay(row.before(), made.path())) {
        all.set(i, new Made(made.path(), made.node(), made.order(), S3Keys.staged(attempt, i)));
      }
    }
    return all;
  }

  /** Tells whether a path, or one above or below it, is that of an object of the row before. */
  private static boolean isInTheWay(S3Index before, String path) {
    String above = path;
    while (!above.isEmpty()) {
      if (before.hasObject(above)) {
        return true;
      }
      above = FileTree.parent(above);
    }
    return S3Index.below(before.names(), path).values().stream()
        .anyMatch(name -> name.file().isRegular());
  }

  private void plan(Collection<Made> all) throws FsException {
    for (Made made : all) {
      planned.add(keys.of(made.path()));
      if (!made.staged().isEmpty()) {
        planned.add(made.staged());
      }
    }
    if (!all.isEmpty()) {
      byte[] text = String.join("\n", planned).getBytes(StandardCharsets.UTF_8);
      String unused = bucket.put(S3Keys.PLAN, text);
    }
  }

  private S3Index.Name put(S3Index before, Made made) throws FsException {
    S3Row.Node node = made.node();
    String key = made.staged().isEmpty() ? keys.of(made.path()) : made.staged();
    String source = node.source;
    String etag;
    if (source != null) {
      etag = bucket.copy(keys.of(source), before.etag(source), node.size, key);
    } else if (node.size == 0) {
      etag = bucket.put(key, new byte[0]);
    } else {
      etag = bucket.upload(key, directory.resolve(S3Row.fileName(node)), node.size);
    }
    return new S3Index.Name(node.id, node.file(), etag, made.staged());
  }
}
