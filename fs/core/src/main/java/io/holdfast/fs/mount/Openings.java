package io.holdfast.fs.mount;

import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.tree.Node;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Directories that let somebody in by now who was not let in before. The kernel keeps what it was
 * told of the entries below such a directory, from when nobody could get there: a file that was
 * closed, or moved away, before the directory was opened would be open to all for as long as that
 * is believed. So until the kernel has been told to ask again for all that is known below it, the
 * directory is shown with the rights that are in both: those of before and those of now.
 * Thread-safe.
 */
final class Openings {
  private static final int ALL = 7;
  private static final int PERMISSIONS = 0777;

  private final ConcurrentHashMap<Long, Opening> openings = new ConcurrentHashMap<>();

  /** One of them; of two at the same directory the second has the rights of both, and stays. */
  static final class Opening {
    private final Attributes shown;

    private Opening(Attributes shown) {
      this.shown = shown;
    }
  }

  /** Takes note of the attributes that a directory is about to have. */
  void begin(Node directory, Attributes fresh) {
    openings.compute(
        directory.id(),
        (id, earlier) -> {
          Attributes before = earlier == null ? strict(directory.attributes()) : earlier.shown;
          Attributes both = both(before, strict(fresh));
          boolean opens = Acl.isAny(fresh.acl()) || both.mode() != fresh.mode();
          return opens || earlier != null ? new Opening(both) : null;
        });
  }

  /** Returns what a directory was opened by last, or null where it is not among these. */
  @Nullable Opening of(long directory) {
    return openings.get(directory);
  }

  /** All below the directory is to be asked for again: it is shown as it is, unless it changed. */
  boolean end(long directory, Opening opening) {
    return openings.remove(directory, opening);
  }

  /** Returns what is to be shown of a node that is known to have these attributes. */
  Attributes shown(Node node, Attributes known) {
    Opening opening = openings.isEmpty() ? null : openings.get(node.id());
    return opening == null ? known : opening.shown;
  }

  private static Attributes strict(Attributes attributes) {
    return attributes.withMode(Acl.strictMode(attributes)).withAcl(Acl.NONE);
  }

  /** Whoever has a right by these has it by both. */
  private static Attributes both(Attributes before, Attributes now) {
    int all = before.mode();
    int owner = all >> 6 & ALL;
    int group = all >> 3 & ALL;
    int others = all & ALL;
    boolean sameOwner = before.uid() == now.uid();
    boolean sameGroup = before.gid() == now.gid();
    // who is another owner now, or another member, was a member or none before; and the other way
    int byOwner = sameOwner ? owner : group & others;
    int wasOwner = sameOwner ? ALL : owner;
    int byGroup = (sameGroup ? group : group & others) & wasOwner;
    int byNone = (sameGroup ? others : group & others) & wasOwner;
    int mode = byOwner << 6 | byGroup << 3 | byNone;
    return now.withMode(now.mode() & (~PERMISSIONS | mode));
  }
}
