package io.holdfast.fs.mount;

import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.tree.Node;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Directories whose rights now let somebody in who could not enter before. The kernel keeps what it
 * was told of the entries below such a directory while nobody could get there. A file that was
 * closed, or moved away, before the directory was opened would be open to all for as long as the
 * kernel believes that. So the directory is shown with the rights that it had before and also has
 * now, until the kernel has been told to ask again for all entries that are known below.
 * Thread-safe.
 */
final class Openings {
  private static final int ALL = 7;
  private static final int PERMISSIONS = 0777;

  private final ConcurrentHashMap<Long, Opening> openings = new ConcurrentHashMap<>();

  /**
   * The opening of a directory. If a directory is opened twice, the second opening has the rights
   * that both have, and replaces the first.
   */
  static final class Opening {
    private final Attributes shown;

    private Opening(Attributes shown) {
      this.shown = shown;
    }
  }

  /** Notes the attributes that a directory is about to have. */
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

  /** Returns the last opening of a directory, or null if it has none. */
  @Nullable Opening of(long directory) {
    return openings.get(directory);
  }

  /**
   * Ends an opening: the directory is shown as it is. Returns false if the directory was opened
   * again.
   */
  boolean end(long directory, Opening opening) {
    return openings.remove(directory, opening);
  }

  /** Returns the attributes to show of a node that is known to have these attributes. */
  Attributes shown(Node node, Attributes known) {
    Opening opening = openings.isEmpty() ? null : openings.get(node.id());
    return opening == null ? known : opening.shown;
  }

  private static Attributes strict(Attributes attributes) {
    return attributes.withMode(Acl.strictMode(attributes)).withAcl(Acl.NONE);
  }

  /** Returns attributes that give a right only to users who have it by both. */
  private static Attributes both(Attributes before, Attributes now) {
    int all = before.mode();
    int owner = all >> 6 & ALL;
    int group = all >> 3 & ALL;
    int others = all & ALL;
    boolean sameOwner = before.uid() == now.uid();
    boolean sameGroup = before.gid() == now.gid();
    // a user who is the owner or in the group only now was in the group or among others before; and
    // the other way round
    int byOwner = sameOwner ? owner : group & others;
    int wasOwner = sameOwner ? ALL : owner;
    int byGroup = (sameGroup ? group : group & others) & wasOwner;
    int byNone = (sameGroup ? others : group & others) & wasOwner;
    int mode = byOwner << 6 | byGroup << 3 | byNone;
    return now.withMode(now.mode() & (~PERMISSIONS | mode));
  }
}
