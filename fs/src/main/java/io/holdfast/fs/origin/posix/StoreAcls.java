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
 * Finds out which access control lists a store has, and what those of its entries say. Of each
 * filesystem within the dataset it is found out once which kinds there can be; where there are
 * none, nothing is asked of its entries. Whatever cannot be told counts as rights for the owner
 * alone. Thread-safe.
 */
final class StoreAcls {
  /** Whose list is asked for: an open descriptor, or a name in an open directory. */
  interface Entry {
    /** As {@link Statx#call}. */
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

    /** Reads the names of the extended attributes, likewise. */
    long names(long list, int size);
  }

  /** How one kind of list is stored, and read. */
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

  /** Of these, most entries have none, although the store can have them. */
  private static final List<Kind> SELDOM =
      List.of(new Kind(PosixAcl.NAME, PosixAcl::of), new Kind("system.richacl", NOT_UNDERSTOOD));

  /** Of these, each entry has one where the store has them. */
  private static final List<Kind> ALWAYS =
      List.of(
          new Kind(Nfs4Acl.NAME, Nfs4Acl::of),
          new Kind("system.nfs4_acl_xdr", NOT_UNDERSTOOD),
          new Kind("system.cifs_acl", NOT_UNDERSTOOD));

  /** Options of a mount of SMB by which the mode is not what the client decides by. */
  private static final Set<String> SMB_RIGHTS =
      Set.of("multiuser", "cifsacl", "idsfromsid", "modefromsid");

  /** No filesystem has coarser times, as those of FAT. */
  private static final Duration COARSEST = Duration.ofSeconds(3);

  private static final long NO_DEVICE = -1;

  /** How often an entry is asked about that changes meanwhile. */
  private static final int ATTEMPTS = 4;

  /** At the beginning of the scratch memory: the name, its NUL, and room for what a call needs. */
  static final int NAME_ROOM = 256;

  private final boolean local;
  private final InstantSource clock;
  private final ConcurrentHashMap<Long, Found> filesystems = new ConcurrentHashMap<>();
  private volatile Found last = new Found(NO_DEVICE, List.of());

  /**
   * Creates what asks one store.
   *
   * @param local whether this machine's kernel decides by these lists
   * @param clock the time of day that the store writes its times by
   */
  StoreAcls(boolean local, InstantSource clock) {
    this.local = local;
    this.clock = clock;
  }

  /**
   * Tells whether an entry may have a list.
   *
   * @param device the one that it lies on
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
   * Returns an entry's attributes with what is to be known of its list. They are looked at again
   * behind it: a list may have come or gone meanwhile, or the name been given to another entry.
   *
   * @param stat what {@link Statx} has just told of it
   * @param device the one that it lies on
   */
  Attributes ask(Attributes stat, long device, Entry entry) {
    Attributes before = stat;
    for (int i = 0; i < ATTEMPTS; i++) {
      int acl = read(before, device, entry);
      if (entry.stat() != 0) {
        break;
      }
      Attributes after = Statx.attributes();
      if (after.changed() == before.changed()
          && after.mode() == before.mode()
          && after.inode() == before.inode()) {
        return after.withAcl(settled(acl, after));
      }
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
    // by an empty mask, the kernel decides by the mode; a server may not
    return local ? Acl.NONE : Acl.foreign(acl);
  }

  /** Finds out which kinds a filesystem can have, by one of its entries. */
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

  /** Returns kinds that are not known here, by what they are called. */
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

  /** Most mounts of SMB have one user for all, whatever the server's lists say. */
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
