package io.holdfast.fs.checkpoint.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.checkpoint.CheckpointFilesystem;
import io.holdfast.fs.checkpoint.ErrnoException;
import io.holdfast.fs.checkpoint.LongWaits;
import io.holdfast.fs.checkpoint.RequestsInFlight;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.MountId;
import io.holdfast.fs.linux.Unmount;
import io.holdfast.fs.mount.RequestThreads;
import io.holdfast.fs.mount.kernel.Channel;
import io.holdfast.fs.mount.kernel.FuseMount;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mount of a {@link CheckpointFilesystem}, with the threads that answer its requests. The
 * supervisor owns the connection. If an earlier daemon has mounted with it, this one goes on; the
 * requests that the earlier daemon has not answered are sent again by the kernel (Linux 6.9), or
 * else get EINTR.
 */
public final class WritableMount {
  private static final Logger log = LoggerFactory.getLogger(WritableMount.class);

  private static final Duration LONGEST_MOUNT = Duration.ofSeconds(10);

  private static final int FEW_THREADS = 2;

  /** Requests that wait for a file or for room keep their threads; some are left for others. */
  private static final int MOST_THREADS = LongWaits.MOST + 64;

  private final Path mountpoint;
  private final Path session;
  private final Channel channel;
  private final RequestsInFlight inFlight;
  private final RequestThreads threads;
  private final CountDownLatch initialized = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  private volatile MountId mount = MountId.NONE;

  /**
   * Prepares a mount.
   *
   * @param fuse /dev/fuse, open; stays with the caller
   * @param session the file that keeps what was agreed with the kernel, for the next daemon
   */
  public WritableMount(
      int fuse,
      Path session,
      RequestsInFlight inFlight,
      CheckpointFilesystem filesystem,
      Path mountpoint) {
    this.mountpoint = mountpoint;
    this.session = session;
    this.inFlight = inFlight;
    channel = new Channel(fuse);
    WriteRequests requests = new WriteRequests(channel, filesystem, new Beginning());
    threads =
        new RequestThreads(
            () -> new WriteReceiver(channel, inFlight, requests),
            channel::requestWaits,
            FEW_THREADS,
            MOST_THREADS,
            this::hasEnded,
            System::nanoTime);
  }

  /** Tells whether an earlier daemon has mounted with the connection. */
  public static boolean isBegun(Path session) throws FsException {
    return MountSession.read(session).isPresent();
  }

  /**
   * Mounts, or goes on with the mount of an earlier daemon; returns when the kernel has begun to
   * use the mount.
   *
   * @param source what the mount table shows as the source
   * @throws FsException if it cannot be mounted; nothing is left behind then
   */
  public void start(String source) throws FsException {
    Optional<MountSession> before = MountSession.read(session);
    if (before.isPresent()) {
      goOn(before.get());
      return;
    }
    mount = FuseMount.mount(channel.fd(), source, mountpoint, 0, true);
    threads.start();
    awaitFirstRequest();
  }

  private void goOn(MountSession before) {
    mount = before.mount();
    if (before.resends()) {
      channel.resend();
    } else {
      // the kernel looks again what became of a change that was interrupted
      for (long unique : inFlight.forgetLeft()) {
        if (unique != 0) {
          channel.reply(unique, -Errno.EINTR.intValue());
        }
      }
    }
    threads.start();
  }

  private void awaitFirstRequest() throws FsException {
    try {
      if (initialized.await(LONGEST_MOUNT.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int unused = Unmount.unmount(mount, Unmount.DETACH);
    throw new FsException(
        FsError.UNAVAILABLE, mountpoint + ": the kernel did not begin to use the mount");
  }

  /** Notes what was agreed before the kernel knows it: from then on there may be a next daemon. */
  private final class Beginning implements WriteRequests.Initialized {
    @Override
    public void agreed(boolean resends) throws ErrnoException {
      try {
        new MountSession(mount, resends).write(session);
      } catch (FsException e) {
        throw ErrnoException.because(Errno.EIO, "", String.valueOf(e.getMessage()));
      }
    }

    @Override
    public void answered() {
      initialized.countDown();
    }
  }

  /**
   * Unmounts the mount wherever it is by now, unless somebody else has done that. Another mount
   * that is over it stays there.
   *
   * @param detach whether also while files are open
   * @return 0 or an errno; EBUSY if files are open, or another mount is over this one
   */
  public int unmount(boolean detach) {
    if (ended.getCount() == 0) {
      return 0; // and its numbers may be another mount's by now
    }
    int errno = Unmount.unmount(mount, detach ? Unmount.DETACH : 0);
    // in no table: detached while files are open, and only their programs end it
    return errno == Errno.EINVAL.intValue() ? Errno.EBUSY.intValue() : errno;
  }

  /** Returns the identity of the mount; {@link MountId#NONE} before there is one. */
  public MountId id() {
    return mount;
  }

  /**
   * Each thread calls this when the mount has ended. The daemon may go on for long, and the mount's
   * numbers may be another mount's then, which the supervisor must not take away.
   */
  private synchronized void hasEnded() {
    if (ended.getCount() == 0) {
      return;
    }
    takeAwayIfAborted();
    try {
      Optional<MountSession> agreed = MountSession.read(session);
      if (agreed.isPresent()) {
        agreed.get().withoutMount().write(session);
      }
    } catch (FsException e) {
      log.warn("the supervisor is not told that the mount has ended: {}", e.getMessage());
    } finally {
      ended.countDown();
    }
  }

  /** A connection that was aborted has ended, and leaves its mount: nobody could use the place. */
  private void takeAwayIfAborted() {
    int unused = channel.hasFilesystem() ? Unmount.unmount(mount, Unmount.DETACH) : 0;
  }

  /** Waits until the kernel has no use for the mount any more; returns whether it has none. */
  public boolean awaitEnd(Duration longest) {
    try {
      return ended.await(longest.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Receives the requests of one thread, with room for the longest. The kernel writes the header of
   * a request into memory that outlives this process, so that none is lost with it.
   */
  private static final class WriteReceiver implements RequestThreads.Receiver, WriteRequests.Slots {
    private static final int VECTOR = 16;

    private final Channel channel;
    private final RequestsInFlight inFlight;
    private final WriteRequests requests;
    private final long request;
    private final long reply;
    private final long vectors;
    private long slot;

    WriteReceiver(Channel channel, RequestsInFlight inFlight, WriteRequests requests) {
      this.channel = channel;
      this.inFlight = inFlight;
      this.requests = requests;
      channel.prepare();
      request = LIBC.malloc(WriteRequests.REQUEST);
      reply = LIBC.malloc(WriteRequests.REPLY);
      vectors = LIBC.malloc(2 * VECTOR);
      if (request == 0 || reply == 0 || vectors == 0) {
        throw OutOfMemory.outsideHeap("a thread's requests");
      }
      // the kernel cannot bring in pages for a thread that is being killed: a request that it takes
      // then, and that meets a page which is not there, ends with EIO
      Memory.clear(request, WriteRequests.REQUEST);
      try {
        slot = inFlight.take();
      } catch (ErrnoException e) {
        throw new OutOfMemoryError(e.getMessage());
      }
      Memory.putLong(vectors, slot);
      Memory.putLong(vectors + 8, RequestsInFlight.HEADER);
      Memory.putLong(vectors + VECTOR, request + RequestsInFlight.HEADER);
      Memory.putLong(vectors + VECTOR + 8, WriteRequests.REQUEST - RequestsInFlight.HEADER);
    }

    @Override
    public int receive() {
      int length = channel.receiveApart(vectors, 2);
      if (length > 0) {
        Memory.copy(slot, request, RequestsInFlight.HEADER);
        return Memory.getInt(request + 4);
      }
      return length < 0 ? RequestThreads.ENDED : RequestThreads.NONE;
    }

    @Override
    public void answer() {
      inFlight.begin(slot);
      try {
        requests.answer(request, reply, this);
      } finally {
        inFlight.end(slot);
      }
    }

    @Override
    public long leave() throws ErrnoException {
      long next = inFlight.take();
      long left = slot;
      slot = next;
      Memory.putLong(vectors, next);
      return left;
    }

    @Override
    public void give(long left) {
      inFlight.answered(left);
    }

    @Override
    public void close() {
      inFlight.give(slot);
      LIBC.free(request);
      LIBC.free(reply);
      LIBC.free(vectors);
    }
  }
}
