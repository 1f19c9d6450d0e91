package io.holdfast.fs.checkpoint.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.checkpoint.CheckpointFilesystem;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.RequestThreads;
import io.holdfast.fs.mount.kernel.Channel;
import io.holdfast.fs.mount.kernel.FuseMount;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A mount of a {@link CheckpointFilesystem}, with the threads that answer its requests. */
public final class WritableMount {
  private static final Duration LONGEST_MOUNT = Duration.ofSeconds(10);

  /** Requests that wait for the store or for room in the front keep their threads. */
  private static final int MOST_THREADS = 512;

  private final Path mountpoint;
  private final int fuse;
  private final RequestThreads threads;
  private final CountDownLatch initialized = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  /**
   * Mounts; returns when the kernel has begun to use the mount.
   *
   * @param source what the mount table shows as the source
   * @throws FsException if it cannot be mounted; nothing is left behind then
   */
  public WritableMount(CheckpointFilesystem filesystem, String source, Path mountpoint)
      throws FsException {
    this.mountpoint = mountpoint;
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes("/dev/fuse"));
    fuse = LIBC.openat(Linux.AT_FDCWD, path, 2 | Linux.O_CLOEXEC, 0);
    if (fuse < 0) {
      throw Linux.failure(Linux.errno(), "/dev/fuse");
    }
    Channel channel = new Channel(fuse);
    WriteRequests requests = new WriteRequests(channel, filesystem, initialized::countDown);
    threads =
        new RequestThreads(
            () -> new WriteReceiver(channel, requests),
            MOST_THREADS,
            ended::countDown,
            System::nanoTime);
    try {
      FuseMount.mount(fuse, source, mountpoint, 0, true);
    } catch (FsException e) {
      LIBC.close(fuse);
      throw e;
    }
    threads.start();
    awaitFirstRequest();
  }

  private void awaitFirstRequest() throws FsException {
    try {
      if (initialized.await(LONGEST_MOUNT.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int unused = FuseMount.unmount(mountpoint, true);
    throw new FsException(
        FsError.UNAVAILABLE, mountpoint + ": the kernel did not begin to use the mount");
  }

  /**
   * Unmounts.
   *
   * @param detach whether also while files are open
   * @return 0 or an errno; EBUSY if files are open
   */
  public int unmount(boolean detach) {
    return FuseMount.unmount(mountpoint, detach);
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

  /** Receives the requests of one thread, with room for the longest. */
  private static final class WriteReceiver implements RequestThreads.Receiver {
    private final Channel channel;
    private final WriteRequests requests;
    private final long request;
    private final long reply;

    WriteReceiver(Channel channel, WriteRequests requests) {
      this.channel = channel;
      this.requests = requests;
      channel.prepare();
      request = LIBC.malloc(WriteRequests.REQUEST);
      reply = LIBC.malloc(WriteRequests.REPLY);
      if (request == 0 || reply == 0) {
        throw new OutOfMemoryError("no memory for a thread's requests");
      }
    }

    @Override
    public int receive() {
      int length = channel.receive(request, WriteRequests.REQUEST);
      if (length > 0) {
        return Memory.getInt(request + 4);
      }
      return length < 0 ? RequestThreads.ENDED : RequestThreads.NONE;
    }

    @Override
    public void answer() {
      requests.answer(request, reply);
    }

    @Override
    public void close() {
      LIBC.free(request);
      LIBC.free(reply);
    }
  }
}
