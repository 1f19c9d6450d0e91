package io.holdfast.fs.mount;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.tree.Node;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The modes and access control lists by which the kernel decides who may do what. Together they
 * give nobody more than the origin does. If the kernel does not decide by lists, or would not
 * understand the list of an entry, the entry is shown with the {@linkplain Acl#strictMode strict}
 * mode. Thread-safe.
 */
final class Rights {
  private static final Logger log = LoggerFactory.getLogger(Rights.class);

  private static final OriginPath ACCESS = OriginPath.of("system.posix_acl_access");
  private static final OriginPath DEFAULT = OriginPath.of("system.posix_acl_default");

  /**
   * A list with no more than a mode says: the version, then tag, permissions and id for owner,
   * group and others.
   */
  private static final int MINIMAL_BYTES = 4 + 3 * 8;

  private static final byte[] NO_LIST = {};
  private static final int VERSION = 2;
  private static final short OWNER = 1;
  private static final short GROUP = 4;
  private static final short OTHERS = 0x20;
  private static final int NOBODY = -1;

  private final Origin origin;
  private final MetadataCache metadata;
  private final Openings openings;
  private final Procfs procfs;
  private final LongConsumer changed;
  private final AtomicBoolean told = new AtomicBoolean();
  private volatile boolean kernelDecides;

  /**
   * Creates rights that the kernel does not decide by lists yet.
   *
   * @param openings directories that must not be shown with all of their rights yet
   * @param procfs knows the groups of users
   * @param changed learns of a node that has changed at the origin
   */
  Rights(
      Origin origin,
      MetadataCache metadata,
      Openings openings,
      Procfs procfs,
      LongConsumer changed) {
    this.origin = origin;
    this.metadata = metadata;
    this.openings = openings;
    this.procfs = procfs;
    this.changed = changed;
  }

  /** Learns that the kernel decides by lists from now on. */
  void kernelDecides() {
    kernelDecides = true;
  }

  /** Returns the attributes of a node as they are to be shown. */
  Attributes shown(Node node) {
    return asEnforced(openings.shown(node, node.attributes()));
  }

  /** Returns attributes with a mode that is strict enough where the kernel decides by it alone. */
  private Attributes asEnforced(Attributes attributes) {
    int acl = attributes.acl();
    if (!Acl.isAny(acl) || (kernelDecides && Acl.isPosix(acl))) {
      return attributes;
    }
    if (Acl.isPosix(acl) && !told.getAndSet(true)) {
      log.warn(
          "the dataset has ACLs, and the kernel does not decide by them: who has rights by an ACL"
              + " alone is denied; fix: mount again, with root and the kernel binding, or with"
              + " --acl kernel");
    }
    return attributes.withMode(Acl.strictMode(attributes));
  }

  /**
   * Tells whether a directory lets a user pass by its rights of now, also if it is not shown with
   * all of them yet. Returns false also if they cannot be read: they are changing.
   */
  boolean letPass(Node directory, Asker asker) {
    Attributes now = asEnforced(directory.attributes());
    try {
      boolean hasList = kernelDecides && Acl.isPosix(now.acl());
      return asker.maySearch(now, hasList ? value(directory, ACCESS.bytes()) : NO_LIST, procfs);
    } catch (FsException e) {
      return false;
    }
  }

  /** Tells whether the kernel decides by an extended attribute. */
  boolean decidesBy(byte[] name) {
    OriginPath asked = OriginPath.of(name);
    return kernelDecides && (asked.equals(ACCESS) || asked.equals(DEFAULT));
  }

  /**
   * Returns the list of an entry, which belongs to the mode that was shown. If the entry has
   * changed since, or the origin does not answer, the list says the same as the strict mode.
   *
   * @throws FsException NO_ATTRIBUTE if the entry has no list
   */
  byte[] value(Node node, byte[] name) throws FsException {
    Attributes shown = node.attributes();
    boolean access = OriginPath.of(name).equals(ACCESS);
    if (access && openings.of(node.id()) != null) {
      return minimal(shown(node).mode());
    }
    if (!access || (!Acl.isAny(shown.acl()) && !Acl.isAskedFor(shown.mode()))) {
      return asked(node, name);
    }
    if (!Acl.isPosix(shown.acl())) {
      throw new FsException(FsError.NO_ATTRIBUTE, node.path() + ": no ACL");
    }
    try {
      byte[] value = asked(node, name);
      // after the list was read, so that a change between the two reads is seen
      Attributes now = origin.stat(node.path(), shown);
      if (now.sameButForAccess(shown)) {
        return value;
      }
      changed.accept(node.id());
    } catch (FsException e) {
      if (isAnswer(e)) {
        changed.accept(node.id());
      } else if (!metadata.isInDoubt()) {
        throw e;
      }
    }
    return minimal(Acl.strictMode(shown));
  }

  private static boolean isAnswer(FsException e) {
    return switch (e.code()) {
      case NO_ATTRIBUTE, NOT_FOUND, NOT_DIRECTORY, SYMLINK, STALE, ACCESS_DENIED, NOT_PERMITTED ->
          true;
      default -> false;
    };
  }

  /**
   * Asks the origin. An unsupported list becomes NO_ATTRIBUTE: the kernel takes any other error for
   * a failure of its decision.
   */
  private byte[] asked(Node node, byte[] name) throws FsException {
    try {
      return origin.extendedAttribute(node.path(), node.attributes(), name);
    } catch (FsException e) {
      throw e.code() == FsError.UNSUPPORTED
          ? new FsException(FsError.NO_ATTRIBUTE, node.path() + ": no ACL", e)
          : e;
    }
  }

  /** Returns the list that gives the same rights as a mode. */
  private static byte[] minimal(int mode) {
    return ByteBuffer.allocate(MINIMAL_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(VERSION)
        .putShort(OWNER)
        .putShort((short) (mode >> 6 & 7))
        .putInt(NOBODY)
        .putShort(GROUP)
        .putShort((short) (mode >> 3 & 7))
        .putInt(NOBODY)
        .putShort(OTHERS)
        .putShort((short) (mode & 7))
        .putInt(NOBODY)
        .array();
  }
}
