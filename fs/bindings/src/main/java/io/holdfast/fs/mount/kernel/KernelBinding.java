package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;
import static io.holdfast.fs.mount.kernel.Channel.INVAL_INODE;
import static io.holdfast.fs.mount.kernel.Channel.NOTIFY_INVAL_INODE;
import static io.holdfast.fs.mount.kernel.Channel.NO_PAGES;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.FuseHandle;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.MountId;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.Unmount;
import io.holdfast.fs.mount.Binding;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.MountOptions;
import io.holdfast.fs.mount.PendingReplies;
import io.holdfast.fs.mount.RequestThreads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongPredicate;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mounts by itself and speaks the kernel's protocol; needs the privilege to mount. The supervisor
 * owns the connection. If an earlier daemon has mounted with it, this one goes on, and answers the
 * requests that the earlier daemon has not answered: the kernel sends them again (Linux 6.9), or
 * else {@link InFlight} has them.
 */
public final class KernelBinding implements Binding {
  private static final Logger log = LoggerFactory.getLogger(KernelBinding.class);

  private static final Duration LONGEST_MOUNT = Duration.ofSeconds(10);
  private static final Duration LONGEST_NOTICE = Duration.ofSeconds(10);

  /** The directories in use that may keep a notice each, before notices about others wait, too. */
  private static final int NOTICE_THREADS = 4;

  /** In place of a name: the notice is about the directory's listing. */
  private static final byte[] LISTING = {};

  /**
   * The niceness of the thread that gives the kernel bytes; the threads that then pin these pages
   * have the same.
   */
  private static final int GIVE_WAY = 10;

  private static final long MS_RDONLY = 1;
  private static final int NOTIFY_INVAL_ENTRY = 3;

  /** The offset from which on INVAL_INODE drops pages. */
  private static final long ALL_PAGES = 0;

  private static final int INVAL_ENTRY = 16;

  private final Channel channel;

  /**
   * Sends notices. The kernel takes a notice only when nobody uses the page or name that it is
   * about, and a page that is being read is locked until the read is answered. If this process is
   * killed meanwhile, only the next daemon answers that read. So these threads must not hold the
   * descriptors that tell the supervisor that this process is alive; otherwise the supervisor would
   * never start the next daemon.
   */
  private final IsolatedThreads noticeThreads;

  private final Notices notices;

  /**
   * Gives the kernel bytes. Apart from notices, because these are short. A store waits too for a
   * page that somebody is reading.
   */
  private final IsolatedThreads stores;

  private final Path session;
  private final InFlight inFlight;
  private final CountDownLatch initialized = new CountDownLatch(1);
  private final PendingReplies pendingReplies = new PendingReplies();
  private final KeptListings keptListings = new KeptListings(this::dropListing, System::nanoTime);
  private final AtomicBoolean closed = new AtomicBoolean();

  /** The agreement of an earlier daemon with the kernel. */
  private final Optional<Session> before;

  private volatile MountId mount;
  private volatile boolean mayStore;
  private volatile boolean decidesByAcls;
  private @Nullable RequestThreads threads;
  private @Nullable MountOptions options;

  /**
   * Creates a binding that has not mounted yet.
   *
   * @param fuse /dev/fuse, open; stays with the caller
   * @param session the file that keeps what was agreed with the kernel, for the next daemon
   * @param requests memory for the requests, where the next daemon finds them
   * @param failures takes the failures of threads that cannot log
   * @param alive descriptors that, when closed, tell others that this process has ended
   */
  public KernelBinding(
      int fuse,
      Path session,
      GrowingMemory requests,
      IsolatedThreads.Failures failures,
      int... alive)
      throws FsException {
    this.before = Session.read(session);
    this.channel = new Channel(fuse);
    this.mount =
        before.filter(any -> channel.hasFilesystem()).map(Session::mount).orElse(MountId.NONE);
    this.noticeThreads = IsolatedThreads.start("notice", NOTICE_THREADS, 0, failures, alive);
    this.notices = new Notices(noticeThreads, LONGEST_NOTICE);
    this.stores = IsolatedThreads.start("store", 1, GIVE_WAY, failures, alive);
    this.session = session;
    this.inFlight = new InFlight(requests);
  }

  @Override
  public String name() {
    return "kernel";
  }

  @Override
  public void mount(Filesystem filesystem, MountOptions wanted) throws FsException {
    if (before.isPresent()) {
      goOn(filesystem, wanted, before.get().negotiation());
    } else {
      begin(filesystem, wanted);
    }
  }

  private void begin(Filesystem filesystem, MountOptions wanted) throws FsException {
    mount =
        FuseMount.mount(
            channel.fd(), wanted.source(), wanted.mountpoint(), MS_RDONLY, wanted.allowOther());
    options = wanted;
    Requests requests =
        new Requests(
            channel,
            inFlight,
            filesystem,
            wanted,
            pendingReplies,
            keptListings,
            new Requests.Initialized() {
              @Override
              public void agreed(Negotiation negotiation) throws FsException {
                agree(negotiation);
                new Session(mount, negotiation).write(session);
              }

              @Override
              public void answered() {
                initialized.countDown();
              }
            });
    start(requests);
    awaitFirstRequest(wanted);
  }

  private void goOn(Filesystem filesystem, MountOptions wanted, Negotiation agreed) {
    options = wanted;
    agree(agreed);
    Requests requests =
        new Requests(channel, inFlight, filesystem, wanted, pendingReplies, keptListings, agreed);
    if (agreed.canResend()) {
      inFlight.left().forEach(inFlight::give);
      // before any request is received: otherwise the kernel would send requests of this daemon
      // twice
      channel.resend();
      start(requests);
    } else {
      start(requests);
      NamedThreads.start("fuse-left", () -> KernelReceiver.answerLeft(channel, inFlight, requests));
    }
  }

  private void agree(Negotiation agreed) {
    mayStore = agreed.clearsWhatFollows();
    decidesByAcls = agreed.decidesByAcls();
  }

  private void start(Requests requests) {
    RequestThreads receivers = KernelReceiver.threads(channel, inFlight, requests);
    threads = receivers;
    receivers.start();
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

  /** Waits for pending replies; the next lookup gives the new node, which is another inode. */
  @Override
  public boolean replace(long parent, byte[] name, long node) {
    return pendingReplies.awaitNone(node);
  }

  @Override
  public Earlier earlierReplies() {
    return pendingReplies.earlier();
  }

  @Override
  public void expire(long parent, byte[] name) {
    warnIf(notices.giveAndWait(parent, name, () -> invalidate(parent, name)));
  }

  private void invalidate(long parent, byte[] name) {
    int length = INVAL_ENTRY + name.length + 1;
    long message = LIBC.malloc(length);
    Memory.clear(message, INVAL_ENTRY);
    Memory.putLong(message, parent);
    Memory.putInt(message + 8, name.length);
    Memory.putString(message + INVAL_ENTRY, name);
    int unused = tell(NOTIFY_INVAL_ENTRY, message, length);
  }

  /**
   * Expires the attributes alone. If the name expired, the kernel would forget the file, and its
   * pages that nobody has pinned, such as those that this daemon takes over.
   */
  @Override
  public void expireAttributes(long parent, byte[] name, long node) {
    expireRights(node);
  }

  /** Does not wait: the notice is about no page, so the kernel waits for nothing. */
  @Override
  public void expireRights(long directory) {
    int unused = invalidate(directory, NO_PAGES);
  }

  /** Drops the listing too, which the kernel keeps as pages. */
  @Override
  public void expireDirectory(long node) {
    warnIf(notices.giveAndWait(node, LISTING, () -> dropPages(node)));
  }

  private void dropPages(long directory) {
    int unused = invalidate(directory, ALL_PAGES);
  }

  private static void warnIf(boolean inVain) {
    if (inVain) {
      log.warn(
          "the kernel has not taken a notice after {}: a program uses the directory, or a request"
              + " is not answered; {}",
          LONGEST_NOTICE,
          RequestThreads.busy());
    }
  }

  @Override
  public OptionalLong inVain(LongPredicate directories) {
    return notices.inVain(directories);
  }

  /** Does not wait, since the thread of a request calls it. */
  private void dropListing(long directory) {
    Object unused = notices.give(directory, LISTING, () -> dropPages(directory));
  }

  /**
   * Leaves the pages alone. If the kernel dropped them, it would drop locked pages too, and wait
   * for each page that is being read. If that read was a killed daemon's, the kernel would go on
   * afterwards and drop pages that the next daemon has pinned.
   */
  @Override
  public boolean mayKnow(long node) {
    return invalidate(node, NO_PAGES) != Errno.ENOENT.intValue();
  }

  @Override
  public boolean store(long node, Source source) {
    if (!mayStore) {
      return false;
    }
    try {
      stores.execute(() -> storeAll(node, source));
      return true;
    } catch (RejectedExecutionException e) {
      return false; // the mount is gone
    }
  }

  private void storeAll(long node, Source source) {
    boolean known = true;
    try {
      Piece piece = source.next();
      while (piece != null && known && !closed.get()) {
        int errno = channel.store(node, piece.offset(), piece.bytes());
        known = errno != Errno.ENOENT.intValue();
        piece = known ? source.next() : null;
      }
    } finally {
      source.over(known);
    }
  }

  private int invalidate(long node, long offset) {
    long message = LIBC.malloc(INVAL_INODE);
    Memory.clear(message, INVAL_INODE);
    Memory.putLong(message, node);
    Memory.putLong(message + 8, offset);
    return tell(NOTIFY_INVAL_INODE, message, INVAL_INODE);
  }

  /**
   * Sends a notice; returns when the kernel has taken it.
   *
   * @param message the notice; freed in the end
   * @return the kernel's errno; 0 if the mount is gone
   */
  private int tell(int code, long message, int length) {
    int errno = closed.get() ? 0 : channel.tell(code, message, length);
    LIBC.free(message);
    return errno;
  }

  @Override
  public MountId mountId() {
    return mount;
  }

  @Override
  public long nodeOf(int fd) {
    return FuseHandle.node(fd);
  }

  @Override
  public boolean decidesByAcls() {
    return decidesByAcls;
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
   * Detaches the mount wherever it is by now, but no other one over it. The daemon answers requests
   * of processes that have files open until it ends.
   */
  @Override
  public void close() {
    MountOptions mounted = options;
    if (mounted == null || !closed.compareAndSet(false, true)) {
      return;
    }
    int errno = channel.hasFilesystem() ? Unmount.unmount(mount, Unmount.DETACH) : 0;
    if (errno == Errno.EBUSY.intValue()) {
      log.warn("{}: another mount is there, and stays", mounted.mountpoint());
    } else if (errno != 0) {
      log.debug("nothing is unmounted: {}", Linux.describe(errno));
    }
    noticeThreads.close();
    stores.close();
  }
}
