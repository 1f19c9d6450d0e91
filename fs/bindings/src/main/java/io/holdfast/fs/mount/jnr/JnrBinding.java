package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.MountId;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.Unmount;
import io.holdfast.fs.mount.Binding;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.MountOptions;
import io.holdfast.fs.mount.Opcode;
import io.holdfast.fs.mount.PendingReplies;
import io.holdfast.fs.mount.RequestThreads;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import jnr.constants.platform.Errno;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The binding on libfuse 2. libfuse keeps its own table of nodes by name and calls back with paths.
 * The binding resolves each path to the core's node.
 *
 * <p>libfuse ties a name to one inode for as long as the kernel remembers it. A new version of a
 * file would therefore get the pages and the open descriptors of the old one. So {@link #replace}
 * lets libfuse process an unlink request that the kernel never sent. The name is free then, and the
 * next lookup makes a new inode; the old inode lives on without a name until it is closed. The
 * kernel drops the reply, because it has no such request; libfuse takes that for an interrupted
 * request.
 */
public final class JnrBinding implements Binding {
  private static final Logger log = LoggerFactory.getLogger(JnrBinding.class);

  private static final Duration LONGEST_MOUNT = Duration.ofSeconds(10);

  private final LibFuse2 libfuse;
  private final ThreadLocal<Request> current = ThreadLocal.withInitial(Request::new);
  private final WaitingReads waiting = new WaitingReads();
  private final PendingReplies pendingReplies = new PendingReplies();

  /**
   * The thread on which libfuse forgets. It is never in a callback, for which libfuse would wait.
   */
  private final Executor forgetting = Executors.newSingleThreadExecutor(new NamedThreads("forget"));

  private final KeptDirectories directories =
      new KeptDirectories(
          (number, lookups) ->
              forgetting.execute(() -> Forgets.forget(number, lookups, this::process)));
  private final CountDownLatch initialized = new CountDownLatch(1);
  private final AtomicBoolean closed = new AtomicBoolean();
  private @Nullable Operations operations;
  private @Nullable RequestThreads threads;
  private @Nullable MountOptions options;

  private volatile MountId mount = MountId.NONE;
  private volatile long session;
  private volatile long channel;

  /**
   * Loads libfuse 2.
   *
   * @throws FsException if it is not installed
   */
  public JnrBinding() throws FsException {
    try {
      libfuse = LibFuse2.load();
    } catch (UnsatisfiedLinkError e) {
      throw new FsException(
          FsError.UNAVAILABLE,
          "libfuse 2 is missing: install libfuse2 (Debian 12, Ubuntu 22.04) or libfuse2t64"
              + " (Ubuntu 24.04)",
          e);
    }
  }

  @Override
  public String name() {
    return "jnr-fuse";
  }

  @Override
  public void mount(Filesystem filesystem, MountOptions wanted) throws FsException {
    operations =
        new Operations(
            filesystem,
            new Operations.Context(
                current,
                waiting,
                directories::add,
                initialized,
                wanted.answerOpens(),
                wanted.extendedAttributes()));
    directories.add(Filesystem.ROOT, Request.ROOT);
    String[] arguments = {
      "holdfast", "-f", "-o", optionString(wanted), wanted.mountpoint().toString()
    };
    try (NativeStrings strings = new NativeStrings()) {
      long results = strings.room(2 * Long.BYTES);
      long fuse =
          libfuse.fuse_setup(
              arguments.length,
              strings.vector(arguments),
              operations.address(),
              operations.size(),
              results,
              results + Long.BYTES,
              0);
      if (fuse == 0) {
        throw new FsException(
            FsError.UNAVAILABLE,
            wanted.mountpoint()
                + ": libfuse could not mount it; is /dev/fuse there, and permitted?");
      }
      session = libfuse.fuse_get_session(fuse);
    }
    mount = MountTable.ownAt(wanted.mountpoint());
    options = wanted;
    channel = libfuse.fuse_session_next_chan(session, 0);
    LibfuseReceiver.Hooks hooks =
        new LibfuseReceiver.Hooks(
            pendingReplies,
            waiting::interrupt,
            directories,
            new EarlyAnswers(filesystem, pendingReplies, directories, this::process));
    int device = libfuse.fuse_chan_fd(channel);
    RequestThreads receivers =
        new RequestThreads(
            () -> new LibfuseReceiver(libfuse, session, channel, current.get(), hooks),
            () -> Linux.awaitReadable(device, 0),
            LibfuseReceiver.FEW,
            LibfuseReceiver.MOST,
            () -> {},
            System::nanoTime);
    threads = receivers;
    receivers.start();
    awaitFirstRequest(wanted);
  }

  private void process(long request, long length) {
    libfuse.fuse_session_process(session, request, length, channel);
  }

  private void awaitFirstRequest(MountOptions wanted) throws FsException {
    try {
      if (initialized.await(LONGEST_MOUNT.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    close();
    throw new FsException(
        FsError.UNAVAILABLE, wanted.mountpoint() + ": the kernel did not begin to use the mount");
  }

  /**
   * Returns the mount options for libfuse, each with its reason. The timeouts are in seconds and
   * may be fractions.
   */
  private static String optionString(MountOptions options) {
    String ttl = Double.toString(options.metadataTtl().toMillis() / 1000.0);
    StringBuilder all = new StringBuilder("ro,nosuid,nodev");
    all.append(",fsname=").append(escaped(options.source())).append(",subtype=holdfast");
    // a mount over the dataset's own path covers a directory that is not empty
    all.append(",nonempty");
    all.append(",default_permissions").append(options.allowOther() ? ",allow_other" : "");
    // inode numbers as at the origin, so that hard links can be recognised
    all.append(",use_ino,readdir_ino");
    all.append(",attr_timeout=").append(ttl).append(",entry_timeout=").append(ttl);
    all.append(",negative_timeout=").append(ttl);
    // never rename a file that is open out of the way: see replace()
    all.append(",hard_remove");
    // the kernel's default of 12 requests in the background starves readahead
    return all.append(",max_background=128,congestion_threshold=96").toString();
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace(",", "\\,");
  }

  /**
   * Replaces files and symlinks only. libfuse would have no path to a directory without a name, and
   * so would answer no lookup in it or below it; and it processes such an unlink only when no
   * callback is at work there.
   */
  @Override
  public boolean replace(long parent, byte[] name, long node) {
    if (closed.get()) {
      return true;
    }
    if (current.get().isInCallback()) {
      throw new IllegalStateException("libfuse may wait for this callback before it forgets");
    }
    boolean unseen = pendingReplies.awaitNone(node);
    directories.use(parent, directory -> unlink(directory, name));
    directories.gone(node);
    return unseen;
  }

  private void unlink(long directory, byte[] name) {
    long length = Request.HEADER_SIZE + name.length + 1L;
    long message = LIBC.malloc(length);
    try {
      Memory.clear(message, Request.HEADER_SIZE);
      Memory.putInt(message, (int) length);
      Memory.putInt(message + Request.OPCODE, Opcode.UNLINK.code());
      Memory.putLong(message + Request.UNIQUE, Request.NOT_OF_THE_KERNEL);
      Memory.putLong(message + Request.NODEID, directory);
      Memory.putString(message + Request.HEADER_SIZE, name);
      current.get().withoutKernel(() -> process(message, length));
    } finally {
      LIBC.free(message);
    }
  }

  @Override
  public Earlier earlierReplies() {
    return pendingReplies.earlier();
  }

  @Override
  public void expire(long parent, byte[] name) {
    long directory = directories.number(parent);
    if (directory == 0 || closed.get()) {
      return;
    }
    long text = LIBC.malloc(name.length + 1L);
    try {
      Memory.putString(text, name);
      libfuse.fuse_lowlevel_notify_inval_entry(channel, directory, text, name.length);
    } finally {
      LIBC.free(text);
    }
  }

  /**
   * Expires the name instead, because libfuse gives each file a number of its own, which nobody
   * else knows. The number of a directory is known only if something was looked up in it.
   */
  @Override
  public void expireAttributes(long parent, byte[] name, long node) {
    if (directories.number(node) == 0) {
      expire(parent, name);
    } else {
      expireDirectory(node);
    }
  }

  @Override
  public void expireRights(long directory) {
    expireDirectory(directory);
  }

  @Override
  public void expireDirectory(long node) {
    long directory = directories.number(node);
    if (directory != 0 && !closed.get()) {
      // a negative offset leaves the pages alone
      libfuse.fuse_lowlevel_notify_inval_inode(channel, directory, -1, 0);
    }
  }

  /** Returns none: each call returns only when the kernel knows. */
  @Override
  public OptionalLong inVain(LongPredicate directories) {
    return OptionalLong.empty();
  }

  /** Stores nothing: libfuse gives each file a number of its own, and does not tell which. */
  @Override
  public boolean store(long node, Source source) {
    return false;
  }

  /** Does not tell: libfuse gives each file a number of its own. */
  @Override
  public long nodeOf(int fd) {
    return 0;
  }

  /**
   * Tells that of directories in which something was looked up. Of others libfuse does not tell it;
   * a refresh then expires their names, as it does where only their attributes are to expire.
   */
  @Override
  public boolean mayKnow(long node) {
    return directories.number(node) != 0;
  }

  @Override
  public MountId mountId() {
    return mount;
  }

  /** False: libfuse 2 cannot ask the kernel for that. */
  @Override
  public boolean decidesByAcls() {
    return false;
  }

  @Override
  public Map<String, Long> requests() {
    RequestThreads running = threads;
    return running == null ? Map.of() : running.counts();
  }

  @Override
  public boolean isDisconnected() {
    RequestThreads running = threads;
    return running != null && running.isEnded();
  }

  /**
   * Detaches the mount wherever it is by now, but no other one over it. The threads that receive
   * requests go on until the process ends, for processes that have files open; so libfuse's
   * structures stay.
   */
  @Override
  public void close() {
    MountOptions mounted = options;
    if (mounted == null || !closed.compareAndSet(false, true)) {
      return;
    }
    int errno = hasFilesystem() ? Unmount.unmount(mount, Unmount.DETACH) : 0;
    if (errno == Errno.EBUSY.intValue()) {
      log.warn("{}: another mount is there, and stays", mounted.mountpoint());
    } else if (errno != 0) {
      askHelper();
    }
  }

  /**
   * Tells whether the kernel still has the filesystem. Once it has not, it gives the numbers of the
   * mount to other mounts.
   */
  private boolean hasFilesystem() {
    return libfuse.fuse_lowlevel_notify_inval_inode(channel, Request.ROOT, -1, 0) == 0;
  }

  /** Unmounts without privilege, if the mount is there: libfuse asks its helper. */
  private void askHelper() {
    try (NativeStrings strings = new NativeStrings()) {
      Path place = mount.in(MountTable.read()).map(MountTable.Mount::mountpoint).orElse(null);
      if (place != null) {
        libfuse.fuse_unmount(strings.add(Linux.pathBytes(place.toString())), 0);
      }
    } catch (IOException e) {
      log.warn("the mount table cannot be read", e);
    }
  }

  /** Native strings that live as long as this object. Used by one thread. */
  private static final class NativeStrings implements AutoCloseable {
    private final java.util.List<Pointer> held = new java.util.ArrayList<>();

    long add(byte[] bytes) {
      long address = room(bytes.length + 1);
      Memory.putString(address, bytes);
      return address;
    }

    long room(int size) {
      Pointer memory = jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), size, true);
      held.add(memory);
      return memory.address();
    }

    /** Returns an array of the addresses of the texts, with a null at the end. */
    long vector(String... values) {
      long vector = room((values.length + 1) * Long.BYTES);
      for (int i = 0; i < values.length; i++) {
        Memory.putLong(vector + (long) i * Long.BYTES, add(Linux.pathBytes(values[i])));
      }
      return vector;
    }

    @Override
    public void close() {
      held.clear();
    }
  }
}
