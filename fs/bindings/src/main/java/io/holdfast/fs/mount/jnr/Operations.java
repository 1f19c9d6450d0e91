package io.holdfast.fs.mount.jnr;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Errnos;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.ListedEntry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import jnr.constants.platform.Errno;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import jnr.ffi.mapper.FromNativeConverter;
import jnr.ffi.provider.jffi.ClosureHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.struct.FuseOperations;

/**
 * The callbacks: each decodes, calls the core, maps the outcome to an errno, and returns.
 * Thread-safe: a callback writes only to its thread's own memory. The binding holds this object for
 * as long as libfuse may call.
 */
final class Operations {
  private static final Logger log = LoggerFactory.getLogger(Operations.class);

  /**
   * Offset in struct fuse_file_info of libfuse 2 on 64-bit machines; jnr-fuse has these bits at a
   * wrong place.
   */
  private static final int FILE_INFO_BITS = 20;

  private static final int KEEP_CACHE = 1 << 1;

  private static final int SLASH = '/';

  /**
   * flag_nullpath_ok, the first of the bits behind the operation bmap; jnr-fuse has them as
   * padding.
   */
  private static final byte NULL_PATH_OK = 1;

  private final Filesystem filesystem;
  private final Context context;
  private final ThreadLocal<StatBuffers> buffers = ThreadLocal.withInitial(StatBuffers::new);
  private final FuseOperations struct = new FuseOperations(Runtime.getSystemRuntime());
  private final List<Object> held = new ArrayList<>();

  /**
   * The objects that the callbacks share with the binding.
   *
   * @param current the request that the calling thread is answering
   * @param waiting reads that wait for their bytes
   * @param lookedInto takes the core's node and libfuse's number of a directory
   * @param initialized counted down when the kernel has begun to use the mount
   * @param answerOpens whether to answer each open, instead of telling the kernel once not to ask
   * @param extendedAttributes whether to answer for them, instead of telling the kernel once not to
   *     ask
   */
  record Context(
      ThreadLocal<Request> current,
      WaitingReads waiting,
      LookedInto lookedInto,
      CountDownLatch initialized,
      boolean answerOpens,
      boolean extendedAttributes) {}

  /** Learns of directories in which something is looked up. */
  @FunctionalInterface
  interface LookedInto {
    /** Takes the core's node of a directory, and libfuse's number of it. */
    void directory(long node, long number);
  }

  Operations(Filesystem filesystem, Context context) {
    this.filesystem = filesystem;
    this.context = context;
    // a Struct uses the Java heap unless it gets other memory
    struct.useMemory(
        jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), Struct.size(struct), true));
    // if another version has taken the name of an open file, the descriptor gets ESTALE, rather
    // than libfuse's ENOENT
    Struct.getMemory(struct).putByte(struct.bmap.offset() + Long.BYTES, NULL_PATH_OK);
    set(struct.init.offset(), Callbacks.Init.class, this::init);
    set(struct.getattr.offset(), Callbacks.Stat.class, this::getattr);
    set(struct.readlink.offset(), Callbacks.Fill.class, this::readlink);
    set(struct.readdir.offset(), Callbacks.ReadDirectory.class, this::readdir);
    set(struct.open.offset(), Callbacks.Open.class, this::open);
    set(struct.read.offset(), Callbacks.Read.class, this::read);
    set(struct.statfs.offset(), Callbacks.Stat.class, this::statfs);
    set(struct.getxattr.offset(), Callbacks.GetXattr.class, this::getxattr);
    set(struct.listxattr.offset(), Callbacks.Fill.class, this::listxattr);
    set(struct.unlink.offset(), Callbacks.Unlink.class, this::unlink);
  }

  private <T> void set(long offset, Class<T> type, T callback) {
    held.add(callback);
    Pointer pointer =
        Runtime.getSystemRuntime().getClosureManager().getClosurePointer(type, callback);
    Struct.getMemory(struct).putPointer(offset, pointer);
  }

  long address() {
    return Struct.getMemory(struct).address();
  }

  long size() {
    return Struct.size(struct);
  }

  /** Answers a request; returns the value for the kernel. */
  @FunctionalInterface
  interface Action {
    int run() throws FsException;
  }

  /**
   * Runs an action, and turns every exception into an errno: an exception that left a callback
   * would end the process.
   */
  static int answer(Action action) {
    try {
      return action.run();
    } catch (FsException e) {
      return Errnos.negative(e.code());
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
      return Errnos.negative(FsError.NO_MEMORY);
    } catch (RuntimeException | Error e) {
      log.error("a request failed in the daemon itself", e);
      return -Errno.EIO.intValue();
    }
  }

  private long init(long connection) {
    context.initialized.countDown();
    return 0;
  }

  private int getattr(long path, long stat) {
    return answer(
        () -> {
          byte[] asked = Memory.string(path);
          Request request = context.current.get();
          if (request.isWithoutKernel()) {
            context.lookedInto.directory(node(asked), request.kernelNode());
            return -Errno.ENOENT.intValue();
          }
          if (request.isLookup()) {
            return lookup(request, asked, stat);
          }
          buffers.get().write(filesystem.attributes(node(asked)), stat);
          return 0;
        });
  }

  private int lookup(Request request, byte[] path, long stat) throws FsException {
    Entry entry = request.entry();
    if (entry == null) {
      return request.failure();
    }
    int slash = lastSlash(path);
    requireSame(request, slash == 0 ? Filesystem.ROOT : resolve(path, slash));
    buffers.get().write(entry.attributes(), stat);
    return 0;
  }

  /**
   * Makes sure that the early answer was found in the directory of the path: libfuse's number may
   * belong to another directory by now.
   */
  private void requireSame(Request request, long directory) throws FsException {
    if (directory != request.directory()) {
      context.lookedInto.directory(directory, request.kernelNode());
      throw new FsException(FsError.STALE, "replaced at the origin");
    }
  }

  private int readlink(long path, long buffer, long size) {
    return answer(
        () -> {
          Request request = context.current.get();
          byte[] target =
              filesystem.readLink(
                  known(Memory.string(path)).node(), request.thread(), request.uid());
          int length = (int) Math.min(target.length, size - 1);
          Memory.put(buffer, target, 0, length);
          Memory.putByte(buffer + length, 0);
          return 0;
        });
  }

  private int readdir(long path, long buffer, long filler, long offset, long fileInfo) {
    return answer(
        () -> {
          Runtime runtime = Runtime.getSystemRuntime();
          ClosureHelper helper = ClosureHelper.getInstance();
          Request request = context.current.get();
          if (path == 0) {
            return -Errno.ESTALE.intValue();
          }
          if (request.failure() != 0) {
            return request.failure();
          }
          requireSame(request, listed(Memory.string(path)));
          FromNativeConverter<FuseFillDir, Pointer> converter =
              helper.getNativeConveter(FuseFillDir.class);
          FuseFillDir fill =
              converter.fromNative(Pointer.wrap(runtime, filler), helper.getFromNativeContext());
          Pointer to = Pointer.wrap(runtime, buffer);
          Pointer stat = jnr.ffi.Memory.allocateDirect(runtime, DirectoryNames.STAT_SIZE, true);
          DirectoryNames names = new DirectoryNames();
          // with an offset for each entry, libfuse keeps no listing, and asks again for entries
          // that have no room
          boolean hasRoom =
              (offset >= EarlyAnswers.SELF_OFFSET
                      || fill.apply(to, names.of(new byte[] {'.'}), null, EarlyAnswers.SELF_OFFSET)
                          == 0)
                  && (offset >= EarlyAnswers.PARENT_OFFSET
                      || fill.apply(
                              to, names.of(new byte[] {'.', '.'}), null, EarlyAnswers.PARENT_OFFSET)
                          == 0);
          Iterator<ListedEntry> entries = request.entries().iterator();
          while (hasRoom && entries.hasNext()) {
            ListedEntry entry = entries.next();
            buffers.get().write(entry.type(), entry.inode(), stat.address());
            long place = entry.place() + EarlyAnswers.PARENT_OFFSET;
            hasRoom = fill.apply(to, names.of(entry.name()), stat, place) == 0;
          }
          return 0;
        });
  }

  /** Passes names to the filler, with one buffer for all. */
  private static final class DirectoryNames {
    /** Room for struct stat on any machine. */
    static final int STAT_SIZE = 256;

    private static final int LONGEST = 4096;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(LONGEST);

    ByteBuffer of(byte[] name) {
      buffer.clear();
      buffer.put(name).put((byte) 0).flip();
      return buffer;
    }
  }

  /**
   * Answers ENOSYS: it tells the kernel, once and for all, to open files of this mount by itself
   * and to keep their pages.
   */
  private int open(long path, long fileInfo) {
    return answer(
        () -> {
          if (!context.answerOpens) {
            return -Errno.ENOSYS.intValue();
          }
          filesystem.opened(known(Memory.string(path)).node(), context.current.get().thread());
          int bits = Memory.getInt(fileInfo + FILE_INFO_BITS);
          Memory.putInt(fileInfo + FILE_INFO_BITS, bits | KEEP_CACHE);
          return 0;
        });
  }

  int read(long path, long buffer, long size, long offset, long fileInfo) {
    return answer(
        () -> {
          if (path == 0) {
            return -Errno.ESTALE.intValue();
          }
          long node = known(Memory.string(path)).node();
          BlockingReply reply = new BlockingReply(buffer, size);
          Request request = context.current.get();
          int thread = request.thread();
          return context.waiting.await(
              request.unique(),
              thread,
              reply,
              () -> filesystem.read(node, offset, (int) size, thread, reply));
        });
  }

  private int statfs(long path, long buffer) {
    return answer(
        () -> {
          buffers.get().write(filesystem.figures(), buffer);
          return 0;
        });
  }

  private int getxattr(long path, long name, long value, long size) {
    if (!context.extendedAttributes) {
      return -Errno.ENOSYS.intValue();
    }
    return answer(
        () ->
            copied(
                filesystem.extendedAttribute(node(Memory.string(path)), Memory.string(name)),
                value,
                size));
  }

  private int listxattr(long path, long list, long size) {
    if (!context.extendedAttributes) {
      return -Errno.ENOSYS.intValue();
    }
    return answer(
        () ->
            copied(
                filesystem.extendedAttributeNames(
                    node(Memory.string(path)), context.current.get().uid()),
                list,
                size));
  }

  /**
   * Copies a value, and returns its length. Copies a value, and returns its length. A size of 0
   * asks for the length alone.
   */
  private static int copied(byte[] bytes, long to, long size) {
    if (size == 0) {
      return bytes.length;
    }
    if (bytes.length > size) {
      return -Errno.ERANGE.intValue();
    }
    Memory.put(to, bytes, 0, bytes.length);
    return bytes.length;
  }

  /**
   * Allows the unlink requests of {@link JnrBinding#replace}. Allows the unlink requests of {@link
   * JnrBinding#replace}. The kernel sends none to a read-only mount.
   */
  private int unlink(long path) {
    return context.current.get().isWithoutKernel() ? 0 : -Errno.EROFS.intValue();
  }

  /**
   * Returns the directory that a path names. Fails with STALE if it has gone, as {@link
   * Filesystem#list} does.
   */
  private long listed(byte[] path) throws FsException {
    try {
      return node(path);
    } catch (FsException e) {
      throw e.code() == FsError.NOT_FOUND ? new FsException(FsError.STALE, e.getMessage(), e) : e;
    }
  }

  private long node(byte[] path) throws FsException {
    return path.length == 1 ? Filesystem.ROOT : known(path).node();
  }

  /**
   * Returns the entry that a path was last found to lead to. The request is about the inode of that
   * entry, so nothing is looked up here: the name may lead elsewhere by now.
   */
  private Entry known(byte[] path) throws FsException {
    int slash = lastSlash(path);
    long directory = slash == 0 ? Filesystem.ROOT : resolve(path, slash);
    return known(directory, name(path, slash + 1, path.length));
  }

  /**
   * Returns the node of the directory that the first bytes of a path name. Nothing is looked up
   * here either. A thread that has libfuse forget a directory waits for all requests that have come
   * by it, and a lookup of its name would wait for that thread.
   */
  private long resolve(byte[] path, int end) throws FsException {
    long node = Filesystem.ROOT;
    int from = 1;
    while (from < end) {
      int to = from;
      while (to < end && path[to] != SLASH) {
        to++;
      }
      node = known(node, name(path, from, to)).node();
      from = to + 1;
    }
    return node;
  }

  private Entry known(long directory, byte[] name) throws FsException {
    Entry entry = filesystem.known(directory, name);
    if (entry == null) {
      throw new FsException(FsError.STALE, "replaced at the origin");
    }
    return entry;
  }

  private static byte[] name(byte[] path, int from, int to) {
    return java.util.Arrays.copyOfRange(path, from, to);
  }

  private static int lastSlash(byte[] path) {
    int at = path.length - 1;
    while (at > 0 && path[at] != SLASH) {
      at--;
    }
    return at;
  }
}
