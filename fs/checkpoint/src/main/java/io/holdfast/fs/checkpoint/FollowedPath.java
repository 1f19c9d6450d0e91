package io.holdfast.fs.checkpoint;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import jnr.constants.platform.Errno;

/**
 * Follows the symlinks of a path in the front, as the kernel does in the mount; {@link FileTree}
 * follows none. Not thread-safe.
 */
public final class FollowedPath {
  /** As many as the kernel follows. */
  private static final int MOST_LINKS = 40;

  private final FileTree tree;
  private final String mountpoint;
  private final List<String> links = new ArrayList<>();
  private final Deque<String> left = new ArrayDeque<>();
  private String at = "";

  private FollowedPath(FileTree tree, String mountpoint) {
    this.tree = tree;
    this.mountpoint = mountpoint;
  }

  /**
   * Returns the symlinks that a path goes through, and behind them what it leads to, which need not
   * be there.
   *
   * @param mountpoint with which absolute symlinks begin that lead into the mount; bytes as text
   * @param path below the mountpoint; bytes as text
   * @throws ErrnoException EXDEV if a symlink leads out of the mount, ELOOP if there are too many
   */
  public static List<String> of(Front front, String mountpoint, String path) throws ErrnoException {
    FollowedPath followed = new FollowedPath(front.tree(), mountpoint);
    followed.push(path);
    front.lock().lock(); // no rename comes in between
    try {
      while (!followed.left.isEmpty()) {
        followed.step(followed.left.pop());
      }
    } finally {
      front.lock().unlock();
    }
    followed.links.add(followed.at);
    return followed.links;
  }

  private void push(String path) {
    List<String> names = Arrays.asList(path.split("/", -1));
    for (int i = names.size() - 1; i >= 0; i--) {
      left.push(names.get(i));
    }
  }

  private void step(String name) throws ErrnoException {
    if (name.isEmpty() || name.equals(".")) {
      return;
    }
    if (name.equals("..")) {
      if (at.isEmpty()) {
        throw leadsOut();
      }
      at = at.substring(0, Math.max(0, at.lastIndexOf('/')));
      return;
    }
    String next = at.isEmpty() ? name : at + "/" + name;
    if (tree.find(next).filter(Stat::isSymlink).isEmpty()) {
      at = next;
      return;
    }
    links.add(next);
    if (links.size() > MOST_LINKS) {
      throw ErrnoException.of(Errno.ELOOP, links.get(0));
    }
    follow(tree.readLink(next));
  }

  private void follow(String target) throws ErrnoException {
    if (!target.startsWith("/")) {
      push(target);
      return;
    }
    if (!(target + "/").startsWith(mountpoint + "/")) {
      throw leadsOut();
    }
    at = "";
    push(target.substring(mountpoint.length()));
  }

  private ErrnoException leadsOut() {
    return ErrnoException.because(
        Errno.EXDEV,
        links.isEmpty() ? ".." : links.get(links.size() - 1),
        "the symlink leads out of the mount: give the path that it leads to");
  }
}
