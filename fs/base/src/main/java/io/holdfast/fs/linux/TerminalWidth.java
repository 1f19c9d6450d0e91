package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

/** Asks for the width of a terminal. Stateless. */
public final class TerminalWidth {
  /** The width of a terminal that does not know its size. */
  private static final int USUAL = 80;

  private static final long TIOCGWINSZ = 0x5413;

  /** Four shorts: rows, columns, and the same in pixels. */
  private static final int SIZE_BYTES = 8;

  private static final int COLUMNS_AT = 2;

  private TerminalWidth() {}

  /** Returns the number of columns that a terminal has now. */
  public static int of(int descriptor) {
    long size = LIBC.malloc(SIZE_BYTES);
    if (size == 0) {
      return USUAL;
    }
    try {
      int columns =
          LIBC.ioctl(descriptor, TIOCGWINSZ, size) == 0
              ? Memory.getShort(size + COLUMNS_AT) & 0xffff
              : 0;
      return columns == 0 ? USUAL : columns;
    } finally {
      LIBC.free(size);
    }
  }
}
