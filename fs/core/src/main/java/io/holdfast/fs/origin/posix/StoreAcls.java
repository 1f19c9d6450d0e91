package io.holdfast.fs.origin.posix;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.Scratch;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which kinds of access control lists a store has, and reads the lists of its entries. It
 * checks each filesystem within the dataset once; in one without lists, it asks nothing of the
 * entries. A list that cannot be read counts as rights for the owner alone. Thread-safe.
 */
final class StoreAcls {
  /** An entry whose list is read: an open descriptor, or a name in an open directory. */
  interface Entry {
    /** Reads the attributes like {@link Statx#call}. */
    int stat();

    /**
     * Reads an extended attribute.
     *
     * @param name address of its name
     * @param value address of room for its value
     * @param size bytes of that room
     * @return the length of the value, or a negative errno
     */
    long read(long name, long value, int size);

    /** Reads the names of the extended attributes, as {@link #read} does a value. */
    long names(long list, int size);
  }

  /** A kind of list: the name of its attribute, and its reader. */
  private record Kind(String name, Reader reader) {
    byte[] bytes() {
      return name.getBytes(StandardCharsets.US_ASCII);
    }
  }

  @FunctionalInterface
  private interface Reader {
    int read(byte[] value, Attributes stat);
  }

  private record Found(long device, List<Kind> kinds) {}

  private static final Reader NOT_UNDERSTOOD = (value, stat) -> Acl.foreign(Acl.ownerAlone());

  /** Kinds that most entries lack even in a store that supports them. */
  private static final List<Kind> SELDOM =
      List.of(new Kind(PosixAcl.NAME, PosixAcl::of), new Kind("system.richacl", NOT_UNDERSTOOD));

  /** Kinds that every entry has in a store that supports them. */
  private static final List<Kind> ALWAYS =
      List.of(
          new Kind(Nfs4Acl.NAME, Nfs4Acl::of),
          new Kind("system.nfs4_acl_xdr", NOT_UNDERSTOOD),
          new Kind("system.cifs_acl", NOT_UNDERSTOOD));

  /** Mount options of SMB with which the client does not decide by the mode. */
  private static final Set<String> SMB_RIGHTS =
      Set.of("multiuser", "cifsacl", "idsfromsid", "modefromsid");

  /** No filesystem has a coarser resolution of times than FAT. */
  private static final Duration COARSEST = Duration.ofSeconds(3);

  private static final long NO_DEVICE = -1;

  /** Attempts for an entry that changes meanwhile. */
  private static final int ATTEMPTS = 4;

  /** Layout of the scratch memory: the name and its NUL, then room for the call. */
  static final int NAME_ROOM = 256;

  private final boolean local;
  private final InstantSource clock;
  private final ConcurrentHashMap<Long, Found> filesystems = new ConcurrentHashMap<>();
  private volatile Found last = new Found(NO_DEVICE, List.of());

  /**
   * Creates the reader for one store.
   *
   * @param local whether this machine's kernel enforces these lists
   * @param clock the time of day by which the store writes its times
   */
  StoreAcls(boolean local, InstantSource clock) {
    this.local = local;
    this.clock = clock;
  }

  /**
   * Tells whether an entry may have a list.
   *
   * @param device the entry's device
   */
  boolean mayHave(Attributes stat, long device) {
    if (!Acl.mayBe(stat)) {
      return false;
    }
    Found known = found(device);
    return known == null || !known.kinds.isEmpty();
  }

  private @Nullable Found found(long device) {
    Found known = last;
    return known.device == device ? known : filesystems.get(device);
  }

  /**
   * Returns an entry's attributes with its list. Reads the attributes again after the list: the
   * list may have changed meanwhile, or the name may lead to another entry. A directory in which
   * users make names changes all the time; if so, two equal lists between equal rights will do.
   *
   * @param stat the attributes that {@link Statx} has just read
   * @param device the entry's device
   */
  Attributes ask(Attributes stat, long device, Entry entry) {
    Attributes before = stat;
    int listBefore = 0;
    boolean hadSameRights = false;
    for (int i = 0; i < ATTEMPTS; i++) {
      int acl = read(before, device, entry);
      if (entry.stat() != 0) {
        break;
      }
      Attributes after = Statx.attributes();
      boolean hasSameRights = after.inode() == before.inode() && after.sameRights(before);
      boolean unchanged = after.changed() == before.changed();
      boolean sameList = hadSameRights && acl == listBefore;
      if (hasSameRights && (unchanged || sameList)) {
        return after.withAcl(settled(acl, after));
      }
      hadSameRights = hasSameRights;
      listBefore = acl;
      before = after;
    }
    return before.withAcl(Acl.unsettled(Acl.foreign(Acl.ownerAlone())));
  }

  private int settled(int acl, Attributes stat) {
    long now = TimeUnit.MILLISECONDS.toNanos(clock.millis());
    return stat.changed() < now - COARSEST.toNanos() ? acl : Acl.unsettled(acl);
  }

  private int read(Attributes stat, long device, Entry entry) {
    Found known = found(device);
    if (known == null) {
      known = new Found(device, kinds(device, entry));
      filesystems.put(device, known);
    }
    last = known;
    int acl = Acl.NONE;
    for (Kind kind : known.kinds) {
      acl = Acl.stricter(acl, read(kind, stat, entry));
    }
    return acl;
  }

  private int read(Kind kind, Attributes stat, Entry entry) {
    long area = Linux.scratch().area();
    Memory.putString(area, kind.bytes());
    long value = area + NAME_ROOM;
    long length = entry.read(area, value, Scratch.AREA_CAPACITY - NAME_ROOM);
    if (length < 0) {
      return switch (Linux.code((int) -length)) {
        case NO_ATTRIBUTE, UNSUPPORTED -> Acl.NONE;
        case ACCESS_DENIED, NOT_PERMITTED -> Acl.foreign(Acl.ownerAlone());
        default -> Acl.unsettled(Acl.foreign(Acl.ownerAlone()));
      };
    }
    int acl = kind.reader.read(Memory.bytes(value, (int) length), stat);
    if (!Acl.isPosix(acl) || Acl.isAskedFor(stat.mode())) {
      return acl;
    }
    // with an empty mask the kernel decides by the mode, but a server may not
    return local ? Acl.NONE : Acl.foreign(acl);
  }

  /** Finds out which kinds a filesystem supports, by one of its entries. */
  private static List<Kind> kinds(long device, Entry entry) {
    List<Kind> kinds = new ArrayList<>();
    for (Kind kind : SELDOM) {
      if (!isUnsupported(probe(kind, entry))) {
        kinds.add(kind);
      }
    }
    for (Kind kind : ALWAYS) {
      long answer = probe(kind, entry);
      boolean has = !isUnsupported(answer) && answer != -Errno.ENODATA.intValue();
      if (has && (!kind.name.startsWith("system.cifs") || decidesByAcl(device))) {
        kinds.add(kind);
      }
    }
    kinds.addAll(others(entry));
    return List.copyOf(kinds);
  }

  private static boolean isUnsupported(long answer) {
    return answer == -Errno.EOPNOTSUPP.intValue() || answer == -Errno.EINVAL.intValue();
  }

  private static long probe(Kind kind, Entry entry) {
    long area = Linux.scratch().area();
    Memory.putString(area, kind.bytes());
    return entry.read(area, area + NAME_ROOM, Scratch.AREA_CAPACITY - NAME_ROOM);
  }

  /** Returns kinds unknown to Holdfast, by the names of their attributes. */
  private static List<Kind> others(Entry entry) {
    long area = Linux.scratch().area();
    long length = entry.names(area, Scratch.AREA_CAPACITY);
    String names =
        new String(
            length <= 0 ? new byte[0] : Memory.bytes(area, (int) length), StandardCharsets.UTF_8);
    return Arrays.stream(names.split("\0", -1))
        .filter(name -> name.startsWith("system.") && name.contains("acl"))
        .filter(name -> !name.startsWith("system.posix_acl") && !name.startsWith("system.nfs4_"))
        .filter(name -> !name.startsWith("system.cifs"))
        .map(name -> new Kind(name, NOT_UNDERSTOOD))
        .toList();
  }

  /**
   * Returns whether the client decides by ACLs: most mounts of SMB have one user for all, whatever
   * the server's lists say.
   */
  private static boolean decidesByAcl(long device) {
    try {
      return MountTable.read().onDevice(Statx.deviceName(device)).stream()
          .flatMap(mount -> Arrays.stream(mount.options().split(",", -1)))
          .anyMatch(SMB_RIGHTS::contains);
    } catch (IOException e) {
      return true;
    }
  }
}
