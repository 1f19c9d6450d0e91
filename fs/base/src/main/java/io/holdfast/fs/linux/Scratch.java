package io.holdfast.fs.linux;

import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * Native memory that one thread uses for the arguments of its system calls; its content lasts until
 * the next call.
 */
public final class Scratch {
  /**
   * Longest path that fits {@link #path()}, in bytes without the NUL: the kernel's PATH_MAX less
   * one.
   */
  public static final int PATH_CAPACITY = 4095;

  /** Bytes of {@link #area()}. */
  public static final int AREA_CAPACITY = 70 * 1024;

  /** Freed when it is garbage-collected, some time after the thread has ended. */
  private final Pointer memory =
      jnr.ffi.Memory.allocateDirect(
          Runtime.getSystemRuntime(), PATH_CAPACITY + 1 + AREA_CAPACITY, false);

  Scratch() {}

  /** Returns the address of room for a path of {@link #PATH_CAPACITY} bytes and its NUL. */
  public long path() {
    return memory.address();
  }

  /** Returns the address of room for structures and small results. */
  public long area() {
    return memory.address() + PATH_CAPACITY + 1;
  }
}
