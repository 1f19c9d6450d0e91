package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Binding;
import io.holdfast.fs.mount.Exposures;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.MountOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Mounts by itself and speaks the kernel's protocol; needs the privilege to mount. */
public final class KernelBinding implements Binding {
  private static final Duration LONGEST_MOUNT = Duration.ofSeconds(10);
  private static final int O_RDWR = 2;

  private static final String DEVICE = "/dev/fuse";
  private static final String TYPE = "fuse.holdfast";
  private static final long MS_RDONLY = 1;
  private static final long MS_NOSUID = 2;
  private static final long MS_NODEV = 4;
  private static final int MNT_DETACH = 2;
  private static final int NOTIFY_INVAL_INODE = 2;
  private static final int NOTIFY_INVAL_ENTRY = 3;
  private static final int INVAL_INODE = 24;
  private static final int INVAL_ENTRY = 16;

  private final CountDownLatch initialized = new CountDownLatch(1);
  private final Exposures exposures = new Exposures();
  private final AtomicBoolean closed = new AtomicBoolean();
  private @Nullable Channel channel;
  private @Nullable RequestThreads threads;
  private @Nullable MountOptions options;

  @Override
  public String name() {
    return "kernel";
  }

  @Override
  public void mount(Filesystem filesystem, MountOptions wanted) throws FsException {
    Channel opened = new Channel(open());
    channel = opened;
    try {
      mount(opened.fd(), wanted);
    } catch (FsException e) {
      LIBC.close(opened.fd());
      throw e;
    }
    // only now: what was mounted there before is not for close() to take away
    options = wanted;
    Requests requests = new Requests(opened, filesystem, wanted, exposures, initialized::countDown);
    RequestThreads receivers = new RequestThreads(opened, requests);
    threads = receivers;
    receivers.start();
    awaitFirstRequest(wanted);
  }

  private static int open() throws FsException {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(DEVICE));
    int fd = LIBC.openat(Linux.AT_FDCWD, path, O_RDWR | Linux.O_CLOEXEC, 0);
    if (fd < 0) {
      throw Linux.failure(Linux.errno(), DEVICE);
    }
    return fd;
  }

  private static void mount(int fd, MountOptions options) throws FsException {
    String data =
        "fd=%d,rootmode=40000,user_id=0,group_id=0,default_permissions%s"
            .formatted(fd, options.allowOther() ? ",allow_other" : "");
    byte[][] texts = {
      Linux.pathBytes(options.source()),
      Linux.pathBytes(options.mountpoint().toString()),
      TYPE.getBytes(StandardCharsets.UTF_8),
      data.getBytes(StandardCharsets.UTF_8)
    };
    long[] addresses = new long[texts.length];
    long memory = LIBC.malloc(Arrays.stream(texts).mapToLong(text -> text.length + 1L).sum());
    try {
      long next = memory;
      for (int i = 0; i < texts.length; i++) {
        addresses[i] = next;
        Memory.putString(next, texts[i]);
        next += texts[i].length + 1;
      }
      long flags = MS_RDONLY | MS_NOSUID | MS_NODEV;
      if (LIBC.mount(addresses[0], addresses[1], addresses[2], flags, addresses[3]) != 0) {
        throw Linux.failure(Linux.errno(), "mounting at " + options.mountpoint());
      }
    } finally {
      LIBC.free(memory);
    }
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

  /** The next lookup gives the new node, which is another inode. */
  @Override
  public void replace(long parent, byte[] name, long node) {
    exposures.awaitNone(node);
  }

  @Override
  public void expire(long parent, byte[] name) {
    int length = INVAL_ENTRY + name.length + 1;
    long message = LIBC.malloc(length);
    try {
      Memory.clear(message, INVAL_ENTRY);
      Memory.putLong(message, parent);
      Memory.putInt(message + 8, name.length);
      Memory.putString(message + INVAL_ENTRY, name);
      tell(NOTIFY_INVAL_ENTRY, message, length);
    } finally {
      LIBC.free(message);
    }
  }

  /** Its listing, which the kernel keeps as pages, goes as well. */
  @Override
  public void expireDirectory(long node) {
    long message = LIBC.malloc(INVAL_INODE);
    try {
      Memory.clear(message, INVAL_INODE);
      Memory.putLong(message, node);
      tell(NOTIFY_INVAL_INODE, message, INVAL_INODE);
    } finally {
      LIBC.free(message);
    }
  }

  private void tell(int code, long message, int length) {
    Channel open = channel;
    if (open != null && !closed.get()) {
      open.tell(code, message, length);
    }
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
   * Detaches the mount. Requests of those who have files open are answered until the process ends.
   */
  @Override
  public void close() {
    MountOptions mounted = options;
    if (mounted == null || !closed.compareAndSet(false, true)) {
      return;
    }
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(mounted.mountpoint().toString()));
    LIBC.umount2(path, MNT_DETACH);
  }
}
