package io.holdfast.fs.mount;

import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
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
   * @throws FsException where it cannot mount; nothing is left behind then
   */
  void mount(Filesystem filesystem, MountOptions options) throws FsException;

  /** Tells whether the kernel decides by the access control lists of what is mounted. */
  boolean decidesByAcls();

  /**
   * Returns how many requests have reached the daemon since the mount, by the kernel's name of the
   * operation.
   */
  Map<String, Long> requests();

  /**
   * Tells whether the kernel has ended the connection, as after an umount of which the daemon was
   * not told.
   */
  boolean isDisconnected();

  /**
   * Takes the mount away, at once for whoever comes later; who has files open keeps them until the
   * process ends.
   */
  @Override
  void close();
}
