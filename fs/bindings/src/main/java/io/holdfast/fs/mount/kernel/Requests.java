package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Asker;
import io.holdfast.fs.mount.CallerSignals;
import io.holdfast.fs.mount.Errnos;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.MountOptions;
import io.holdfast.fs.mount.Opcode;
import io.holdfast.fs.mount.PendingReplies;
import io.holdfast.fs.mount.UnderWay;
import io.holdfast.fs.origin.Attributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decodes requests, calls the core, and replies. Thread-safe: each thread brings its own memory for
 * the request and the reply.
 */
final class Requests {
  private static final Logger log = LoggerFactory.getLogger(Requests.class);

  /** A flag in open_out: the kernel keeps the file's pages. */
  private static final int KEEP_CACHE = 2;

  private final Channel channel;
  private final InFlight inFlight;
  private final Filesystem filesystem;
  private final MountOptions options;
  private final Directories directories;
  private final KeptListings keptListings;
  private final PendingReplies pendingReplies;
  private final @Nullable Initialized initialized;
  private final ConcurrentHashMap<Long, PendingRead> pending = new ConcurrentHashMap<>();

  /** Made once: code of the first compiler takes 0.1 to 0.2 us to make one. */
  private final Consumer<PendingRead> answered = this::answered;

  /**
   * The threads that wait for an answer to other requests than READ, by the number of the request.
   */
  private final ConcurrentHashMap<Long, Caller> callers = new ConcurrentHashMap<>();

  private volatile @Nullable Negotiation negotiation;

  /** Learns of the beginning of a connection. */
  interface Initialized {
    /** Takes the agreement, before the kernel gets it. */
    void agreed(Negotiation negotiation) throws FsException;

    /** Learns that the kernel has taken the agreement. */
    void answered();
  }

  /** Creates the requests of a connection that begins. */
  Requests(
      Channel channel,
      InFlight inFlight,
      Filesystem filesystem,
      MountOptions options,
      PendingReplies pendingReplies,
      KeptListings keptListings,
      Initialized initialized) {
    this(channel, inFlight, filesystem, options, pendingReplies, keptListings, initialized, null);
  }

  /** Creates the requests of a connection that an earlier daemon has begun. */
  Requests(
      Channel channel,
      InFlight inFlight,
      Filesystem filesystem,
      MountOptions options,
      PendingReplies pendingReplies,
      KeptListings keptListings,
      Negotiation negotiation) {
    this(channel, inFlight, filesystem, options, pendingReplies, keptListings, null, negotiation);
  }

  private Requests(
      Channel channel,
      InFlight inFlight,
      Filesystem filesystem,
      MountOptions options,
      PendingReplies pendingReplies,
      KeptListings keptListings,
      @Nullable Initialized initialized,
      @Nullable Negotiation negotiation) {
    this.channel = channel;
    this.inFlight = inFlight;
    this.filesystem = filesystem;
    this.options = options;
    this.keptListings = keptListings;
    this.directories = new Directories(filesystem, pendingReplies, keptListings, System::nanoTime);
    this.pendingReplies = pendingReplies;
    this.initialized = initialized;
    if (negotiation != null) {
      agree(negotiation);
    }
  }

  /**
   * Answers a request, and takes it out of those in flight. A READ may be answered later.
   *
   * @param request the message
   * @param reply room for an answer of {@link KernelReceiver#REPLY} bytes
   */
  void answer(long request, long reply) {
    Opcode opcode = Opcode.of(Memory.getInt(request + Wire.OPCODE));
    long unique = Memory.getLong(request + Wire.UNIQUE);
    if (opcode == Opcode.READ) {
      read(unique, request);
      return;
    }
    try {
      if (opcode == null) {
        channel.reply(unique, -Errno.ENOSYS.intValue());
      } else {
        answer(opcode, unique, request, reply);
      }
    } catch (FsException e) {
      channel.reply(unique, Errnos.negative(e.code()));
    } catch (OutOfMemoryError e) {
      channel.reply(unique, Errnos.negative(FsError.NO_MEMORY));
      OutOfMemory.tell(e);
    } catch (RuntimeException | Error e) {
      channel.reply(unique, -Errno.EIO.intValue());
      log.error("a request failed in the daemon itself", e);
    }
    inFlight.give(request);
  }

  private void answer(Opcode opcode, long unique, long request, long reply) throws FsException {
    if (opcode == Opcode.INTERRUPT) {
      interrupt(Memory.getLong(request + Wire.IN_HEADER), unique);
      return;
    }
    callers.put(unique, Caller.of(request));
    try {
      answerNow(opcode, unique, request, reply);
    } finally {
      callers.remove(unique);
    }
  }

  private void answerNow(Opcode opcode, long unique, long request, long reply) throws FsException {
    long node = Memory.getLong(request + Wire.NODE);
    long body = request + Wire.IN_HEADER;
    switch (opcode) {
      // a node's id is never used for another node, so the kernel's count does not matter
      case FORGET -> keptListings.forgotten(node);
      case BATCH_FORGET -> {
        int count = Memory.getInt(body);
        for (int i = 0; i < count; i++) {
          keptListings.forgotten(Memory.getLong(body + Wire.FORGETS + (long) i * Wire.FORGET_ONE));
        }
      }
      case INIT -> init(unique, body, reply);
      case LOOKUP, READDIR, READDIRPLUS -> show(opcode, unique, request, reply);
      case GETATTR -> {
        Duration before = filesystem.believeAttributes(node);
        Attributes attributes = filesystem.attributes(node);
        Wire.attrOut(reply, attributes, shorter(before, filesystem.believeAttributes(node)));
        channel.reply(unique, reply, Wire.ATTR_OUT);
      }
      case READLINK ->
          bytes(
              unique,
              filesystem.readLink(
                  node, Memory.getInt(request + Wire.PID), Memory.getInt(request + Wire.UID)),
              reply);
      case OPEN -> open(unique, node, request, reply);
      case OPENDIR -> openDirectory(unique, reply);
      case READ, INTERRUPT -> throw new IllegalStateException("answered apart");
      case STATFS -> {
        Wire.statfs(reply, filesystem.figures());
        channel.reply(unique, reply, Wire.STATFS);
      }
      case GETXATTR, LISTXATTR ->
          extendedAttribute(unique, request, opcode == Opcode.LISTXATTR, reply);
      case RELEASE, RELEASEDIR, DESTROY -> channel.reply(unique, 0);
      case FLUSH, ACCESS, LSEEK, STATX, IOCTL, POLL, BMAP, GETLK, SETLK, SETLKW, FSYNC, FSYNCDIR ->
          channel.reply(unique, -Errno.ENOSYS.intValue());
      case SETATTR,
          SYMLINK,
          MKNOD,
          MKDIR,
          UNLINK,
          RMDIR,
          RENAME,
          RENAME2,
          LINK,
          WRITE,
          SETXATTR,
          REMOVEXATTR,
          CREATE,
          FALLOCATE,
          COPY_FILE_RANGE,
          TMPFILE ->
          channel.reply(unique, -Errno.EROFS.intValue());
    }
  }

  /** Answers a request whose reply shows nodes under their names. */
  private void show(Opcode opcode, long unique, long request, long reply) throws FsException {
    UnderWay.Begun begun = pendingReplies.begin();
    try {
      if (opcode == Opcode.LOOKUP) {
        lookup(unique, request, reply);
      } else {
        list(unique, request, opcode == Opcode.READDIRPLUS);
      }
    } finally {
      pendingReplies.replied(begun);
    }
  }

  private void init(long unique, long body, long reply) throws FsException {
    Negotiation taken = Negotiation.of(body, options.acls() && options.extendedAttributes());
    agree(taken);
    if (initialized != null) {
      initialized.agreed(taken);
    }
    channel.reply(unique, reply, taken.write(reply));
    log.debug("FUSE 7.{}", taken.minor());
    if (initialized != null) {
      initialized.answered();
    }
  }

  private void agree(Negotiation taken) {
    negotiation = taken;
    if (taken.decidesByAcls()) {
      filesystem.kernelDecidesByAcls();
    }
  }

  private void lookup(long unique, long request, long reply) throws FsException {
    long parent = Memory.getLong(request + Wire.NODE);
    byte[] name = Memory.string(request + Wire.IN_HEADER);
    Filesystem.Entry entry;
    Duration before = filesystem.believeNames(parent);
    try {
      entry = pendingReplies.lookup(filesystem, parent, name, asker(request));
    } catch (FsException e) {
      if (e.code() != FsError.NOT_FOUND) {
        throw e;
      }
      // an entry without a node: the kernel remembers that there is no such name
      Wire.missing(reply, shorter(before, filesystem.believeNames(parent)));
      channel.reply(unique, reply, Wire.ENTRY);
      return;
    }
    try {
      Duration ttl = shorter(before, filesystem.believeNames(parent));
      Wire.entry(reply, entry.node(), entry.attributes(), ttl);
      if (!entry.attributes().isDirectory()) {
        // before the reply, because the caller may begin with the next directory as soon as it has
        // the reply
        directories.looked(parent, Memory.getInt(request + Wire.PID));
      }
      channel.reply(unique, reply, Wire.ENTRY);
    } finally {
      pendingReplies.leave(entry.node());
    }
  }

  private static Asker asker(long request) {
    return new Asker(
        Memory.getInt(request + Wire.UID),
        Memory.getInt(request + Wire.GID),
        Memory.getInt(request + Wire.PID));
  }

  static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /**
   * Answers ENOSYS: it tells the kernel, once and for all, to open files of this mount by itself
   * and to keep their pages.
   */
  private void open(long unique, long node, long request, long reply) {
    if (!options.answerOpens()) {
      channel.reply(unique, -Errno.ENOSYS.intValue());
      return;
    }
    filesystem.opened(node, Memory.getInt(request + Wire.PID));
    Memory.clear(reply, Wire.OPEN_OUT);
    Memory.putInt(reply + 8, KEEP_CACHE);
    channel.reply(unique, reply, Wire.OPEN_OUT);
  }

  private void openDirectory(long unique, long reply) {
    Negotiation taken = negotiation;
    if (taken != null && taken.opensDirectories()) {
      channel.reply(unique, -Errno.ENOSYS.intValue());
    } else {
      Memory.clear(reply, Wire.OPEN_OUT);
      channel.reply(unique, reply, Wire.OPEN_OUT);
    }
  }

  private void read(long unique, long request) {
    long node = Memory.getLong(request + Wire.NODE);
    long body = request + Wire.IN_HEADER;
    int caller = Memory.getInt(request + Wire.PID);
    final long offset = Memory.getLong(body + Wire.READ_OFFSET);
    final int size = Memory.getInt(body + Wire.READ_SIZE);
    PendingRead read;
    try {
      read = new PendingRead(channel, unique, request, answered);
      // from here on an INTERRUPT may end the read, and another request take its memory
      pending.put(read.key(), read);
    } catch (OutOfMemoryError e) {
      channel.reply(unique, Errnos.negative(FsError.NO_MEMORY));
      inFlight.give(request);
      OutOfMemory.tell(e);
      return;
    }
    try {
      filesystem.read(node, offset, size, caller, read);
    } catch (OutOfMemoryError e) {
      read.fail(Errnos.negative(FsError.NO_MEMORY));
      OutOfMemory.tell(e);
    } catch (RuntimeException | Error e) {
      read.fail(-Errno.EIO.intValue());
      log.error("a read failed in the daemon itself", e);
    }
  }

  private void answered(PendingRead read) {
    pending.remove(read.key());
    inFlight.give(read.request());
  }

  private void list(long unique, long request, boolean plus) throws FsException {
    long body = request + Wire.IN_HEADER;
    int capacity = Memory.getInt(body + Wire.READ_SIZE);
    Negotiation taken = negotiation;
    Directories.Range range =
        new Directories.Range(
            Memory.getLong(request + Wire.NODE),
            Memory.getInt(request + Wire.PID),
            Memory.getLong(body + Wire.READ_OFFSET),
            plus,
            taken != null && taken.choosesWhoLooks());
    long buffer = LIBC.malloc(capacity);
    List<Long> shown = new ArrayList<>();
    try {
      if (buffer == 0) {
        throw OutOfMemory.outsideHeap("a listing");
      }
      int written = directories.read(range, shown, buffer, capacity);
      channel.reply(unique, buffer, written);
    } finally {
      shown.forEach(pendingReplies::leave);
      LIBC.free(buffer);
    }
  }

  private void bytes(long unique, byte[] bytes, long reply) {
    Memory.put(reply, bytes, 0, bytes.length);
    channel.reply(unique, reply, bytes.length);
  }

  /**
   * Answers for extended attributes. ENOSYS tells the kernel, once and for all, that there are
   * none.
   */
  private void extendedAttribute(long unique, long request, boolean names, long reply)
      throws FsException {
    long node = Memory.getLong(request + Wire.NODE);
    long body = request + Wire.IN_HEADER;
    if (!options.extendedAttributes()) {
      channel.reply(unique, -Errno.ENOSYS.intValue());
    } else if (names) {
      int uid = Memory.getInt(request + Wire.UID);
      attribute(unique, filesystem.extendedAttributeNames(node, uid), Memory.getInt(body), reply);
    } else {
      byte[] value = filesystem.extendedAttribute(node, Memory.string(body + 8));
      attribute(unique, value, Memory.getInt(body), reply);
    }
  }

  /** Replies with a value. A size of 0 asks for the length alone. */
  private void attribute(long unique, byte[] value, int size, long reply) throws FsException {
    if (size == 0) {
      Memory.putLong(reply, value.length);
      channel.reply(unique, reply, Wire.XATTR_OUT);
    } else if (value.length > size) {
      throw new FsException(FsError.RANGE, "the value has " + value.length + " bytes");
    } else {
      bytes(unique, value, reply);
    }
  }

  /**
   * Answers an INTERRUPT. A caller that ends by its signal gets EINTR, and the kernel refuses a
   * later answer to it. Any other caller goes on waiting. The kernel gets EAGAIN a moment later, so
   * that it sends the INTERRUPT again: it would not tell of the caller's next signal. That also
   * holds for a request that its receiver has not noted yet; if the request has been answered, the
   * kernel refuses the EAGAIN.
   */
  private void interrupt(long interrupted, long unique) {
    PendingRead read = pending.get(interrupted);
    Caller caller = read == null ? callers.get(interrupted) : read.caller();
    if (caller == null || !caller.ends()) {
      CallerSignals.later(() -> channel.reply(unique, -Errno.EAGAIN.intValue()));
    } else if (read != null) {
      read.fail(-Errno.EINTR.intValue());
    } else {
      channel.reply(interrupted, -Errno.EINTR.intValue());
    }
  }

  /** Fails the reads that still wait; for the end of the mount. */
  void close() {
    pending.values().forEach(read -> read.fail(-Errno.EIO.intValue()));
  }
}
