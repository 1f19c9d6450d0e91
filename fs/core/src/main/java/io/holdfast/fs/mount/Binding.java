package io.holdfast.fs.mount;

import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.linux.MountId;
import java.util.Map;

/**
 * A way to speak to the kernel. {@link #mount} and {@link #close} are called once each; the rest is
 * thread-safe.
 */
public interface Binding extends KernelView, PageStore, AutoCloseable {
  /** Returns the binding's name, as in {@code --binding}. */
  String name();

  /**
   * Mounts and begins to answer; returns once the kernel's first request has been answered.
   *
   * @throws FsException if it cannot mount; it leaves nothing behind then
   */
  void mount(Filesystem filesystem, MountOptions options) throws FsException;

  /**
   * Returns the identity of the mount; that of an earlier daemon's mount also before this daemon
   * has taken the mount over, and {@link MountId#NONE} before a new mount.
   */
  MountId mountId();

  /**
   * Returns the node that an open file of the mount shows; 0 where the binding gives files other
   * numbers. Asks nobody but the kernel.
   */
  long nodeOf(int fd);

  /** Tells whether the kernel decides by the access control lists of the dataset. */
  boolean decidesByAcls();

  /**
   * Returns the number of requests that have reached the daemon since the mount, by the kernel's
   * name of the operation.
   */
  Map<String, Long> requests();

  /**
   * Tells whether the kernel has ended the connection. An umount does that without telling the
   * daemon.
   */
  boolean isDisconnected();

  /**
   * Detaches the mount: nobody finds it from now on. Processes that have files open keep them until
   * this process ends. Detaches nothing where somebody has unmounted it, or has mounted something
   * over it.
   */
  @Override
  void close();
}
