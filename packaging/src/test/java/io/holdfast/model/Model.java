package io.holdfast.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The dataset, and the observations that are allowed. A name may show any state that it has had
 * since it was last refreshed, and never an older one again. An open file may give the bytes of the
 * version that was opened, or ESTALE once its name leads to another version.
 */
final class Model {
  static final String STALE = "ESTALE";

  private static final String ABSENT = "ENOENT";
  private static final String NO_DIRECTORY = "ENOTDIR";

  /** The error when a believed link is no link any more. */
  private static final String NO_LINK = "EINVAL";

  private static final Set<String> GONE = Set.of(ABSENT, NO_DIRECTORY, STALE, NO_LINK);

  private final List<String> names;
  private final boolean believes;
  private final TreeMap<String, Shown> tree = new TreeMap<>();
  private final Map<Long, byte[]> contents = new HashMap<>();
  private final Map<String, Past> pasts = new HashMap<>();

  /** The states of a name since it was refreshed, and how many it ever had. */
  private static final class Past {
    final List<Shown> states = new ArrayList<>();

    /** The first state that may still be seen. */
    int first;

    int changes;
  }

  /**
   * Begins with an empty directory.
   *
   * @param names all that there will ever be
   * @param believes whether an answer about a name may be believed until it is refreshed
   */
  Model(List<String> names, boolean believes) {
    this.names = names;
    this.believes = believes;
    tree.put("", Shown.DIRECTORY);
    Set<String> all = new TreeSet<>(names);
    all.add("");
    all.forEach(
        name -> {
          Past past = new Past();
          past.states.add(now(name));
          pasts.put(name, past);
        });
  }

  // the dataset

  /** Returns the entry that a name leads to at the origin. */
  Shown now(String path) {
    Shown there = tree.get(path);
    if (there != null) {
      return there;
    }
    String above = parent(path);
    Shown parent = now(above);
    return Shown.nothing(
        switch (parent.kind()) {
          case NOTHING -> parent.more();
          case FILE -> NO_DIRECTORY;
          case DIRECTORY, LINK -> ABSENT; // links lead nowhere
        });
  }

  static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('/')));
  }

  byte[] content(Shown file) {
    byte[] content = contents.get(file.modified());
    if (content == null) {
      throw new AssertionError("no version of a file: " + file);
    }
    return content;
  }

  void put(String path, byte[] content, long modified) {
    contents.put(modified, content);
    tree.put(path, Shown.file(content.length, modified));
    changed();
  }

  void put(String path, Shown other) {
    tree.put(path, other);
    changed();
  }

  void remove(String path) {
    tree.keySet().removeIf(each -> isWithin(each, path));
    changed();
  }

  /** Gives a file or link another name. */
  void move(String from, String to) {
    Shown moved = tree.remove(from);
    tree.keySet().removeIf(each -> isWithin(each, to));
    tree.put(to, moved);
    changed();
  }

  private void changed() {
    pasts.forEach(
        (path, past) -> {
          Shown now = now(path);
          if (!now.equals(last(past))) {
            past.changes++;
            past.states.add(now);
            if (!believes) {
              forget(past);
            }
          }
        });
  }

  private static void forget(Past past) {
    past.states.subList(0, past.states.size() - 1).clear();
    past.first = 0;
  }

  private static Shown last(Past past) {
    return past.states.get(past.states.size() - 1);
  }

  static boolean isWithin(String path, String directory) {
    return directory.isEmpty() || path.equals(directory) || path.startsWith(directory + "/");
  }

  // what may be seen

  /** A path was refreshed. Where it leads through names that were not, those may hide it. */
  void refreshed(String path) {
    for (String above = path; !above.isEmpty(); ) {
      above = parent(above);
      if (past(above).states.size() > 1) {
        return;
      }
    }
    pasts.forEach(
        (each, past) -> {
          if (isWithin(each, path)) {
            forget(past);
          }
        });
  }

  private Past past(String path) {
    Past past = pasts.get(path);
    if (past == null) {
      throw new AssertionError("no name of the model: " + path);
    }
    return past;
  }

  /** Checks an entry that was seen at a name, and returns it; an error if it must not be seen. */
  Shown saw(String path, Shown seen) {
    Past past = past(path);
    boolean uncertain = isUncertain(path);
    for (int i = past.first; i < past.states.size(); i++) {
      Shown state = past.states.get(i);
      if (agree(state, seen, uncertain)) {
        past.first = i;
        return state;
      }
    }
    throw new AssertionError(
        "'%s' shows %s, and may show %s"
            .formatted(path, seen, past.states.subList(past.first, past.states.size())));
  }

  /** Checks an error: the one for a missing entry depends on the believed names above. */
  private static boolean agree(Shown state, Shown seen, boolean uncertain) {
    if (state.isThere()) {
      return state.looksLike(seen);
    }
    return !seen.isThere()
        && (state.more().equals(seen.more()) || (uncertain && GONE.contains(seen.more())));
  }

  /**
   * Tells whether a name, or one that leads to it, may lead elsewhere than it does at the origin.
   */
  boolean isUncertain(String path) {
    return past(path).states.size() > 1 || (!path.isEmpty() && isUncertain(parent(path)));
  }

  /** The target of a link was seen. */
  void sawTarget(String path, String target) {
    Past past = past(path);
    boolean may = past.states.stream().anyMatch(state -> state.equals(Shown.link(target)));
    if (!may) {
      throw new AssertionError(
          "'%s' leads to '%s', and may be %s".formatted(path, target, past.states));
    }
  }

  /** No target was seen. */
  void sawNoTarget(String path, String errno) {
    Past past = past(path);
    boolean may =
        past.states.stream()
            .anyMatch(
                state ->
                    switch (state.kind()) {
                      case LINK -> false;
                      case NOTHING -> GONE.contains(errno);
                      case FILE, DIRECTORY -> errno.equals(NO_LINK) || errno.equals(STALE);
                    });
    if (!may) {
      throw new AssertionError("'%s' gives %s, and is %s".formatted(path, errno, past.states));
    }
  }

  /** A directory was listed; each name once. */
  void sawNames(String directory, List<String> listed, boolean ofTheMoment) {
    Set<String> seen = new TreeSet<>(listed);
    if (seen.size() != listed.size()) {
      throw new AssertionError("twice in '%s': %s".formatted(directory, listed));
    }
    for (String name : names) {
      if (!parent(name).equals(directory)) {
        continue;
      }
      boolean shown = seen.remove(name.substring(name.lastIndexOf('/') + 1));
      boolean may =
          ofTheMoment
              ? now(name).isThere() == shown
              : past(name).states.stream().anyMatch(state -> state.isThere() == shown);
      if (!may) {
        throw new AssertionError(
            "'%s' %s listed, and may be %s"
                .formatted(name, shown ? "is" : "is not", past(name).states));
      }
    }
    if (!seen.isEmpty()) {
      throw new AssertionError("in '%s' there is %s".formatted(directory, seen));
    }
  }

  /** A directory could not be listed. */
  void sawNoNames(String directory, String errno) {
    Past past = past(directory);
    boolean alwaysThere =
        past.states.stream().allMatch(state -> state.kind() == Shown.Kind.DIRECTORY);
    if (alwaysThere || !GONE.contains(errno)) {
      throw new AssertionError(
          "'%s' cannot be listed: %s, and is %s".formatted(directory, errno, past.states));
    }
  }

  /** A file that somebody has open. */
  final class Held {
    private final String path;
    private final Shown version;
    private final int changes;
    private final boolean oldAtOnce;

    private Held(String path, Shown version) {
      this.path = path;
      this.version = version;
      changes = past(path).changes;
      oldAtOnce = !version.equals(now(path));
    }

    Shown version() {
      return version;
    }

    String path() {
      return path;
    }

    /** Bytes were read. */
    void saw(long offset, int length, byte[] bytes) {
      byte[] content = content(version);
      int from = (int) Math.min(offset, content.length);
      int to = (int) Math.min(content.length, offset + length);
      if (!Arrays.equals(bytes, Arrays.copyOfRange(content, from, to))) {
        throw new AssertionError(
            "'%s', %s, read at %d,+%d gives %d bytes that are %s"
                .formatted(path, version, offset, length, bytes.length, origin(bytes, from)));
      }
    }

    /** Says where wrong bytes may be from, for who must find out. */
    private String origin(byte[] bytes, int from) {
      for (Map.Entry<Long, byte[]> each : contents.entrySet()) {
        byte[] other = each.getValue();
        if (bytes.length > 0
            && from + bytes.length <= other.length
            && Arrays.equals(bytes, Arrays.copyOfRange(other, from, from + bytes.length))) {
          return "those of version " + each.getKey();
        }
      }
      return "of no version";
    }

    /** A read, or a question for attributes, failed. */
    void failed(String what, String errno) {
      boolean mayBeStale = oldAtOnce || past(path).changes != changes;
      if (!mayBeStale || !errno.equals(STALE)) {
        throw new AssertionError(
            "'%s', %s, %s gives %s; its name leads to %s"
                .formatted(path, version, what, errno, now(path)));
      }
    }
  }

  /** A file was opened, and showed this. */
  Held opened(String path, Shown seen) {
    return new Held(path, saw(path, seen));
  }

  /** A file could not be opened. */
  void notOpened(String path, String errno) {
    Past past = past(path);
    boolean may =
        past.states.stream()
            .anyMatch(
                state ->
                    switch (state.kind()) {
                      case FILE -> false;
                      case NOTHING -> agree(state, Shown.nothing(errno), isUncertain(path));
                      case DIRECTORY -> errno.equals("EISDIR");
                      case LINK ->
                          errno.equals(ABSENT) || (isUncertain(path) && errno.equals(NO_LINK));
                    });
    if (!may) {
      throw new AssertionError("'%s' opened: %s, and is %s".formatted(path, errno, past.states));
    }
  }

  /** All files that are there now. */
  List<String> files() {
    return tree.entrySet().stream()
        .filter(e -> e.getValue().isFile())
        .map(Map.Entry::getKey)
        .toList();
  }
}
