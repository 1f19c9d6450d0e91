package io.holdfast.fs.page;

import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes content at most once in a while, however many ask for it: visitors cost the daemon no more
 * than one does. Thread-safe; the monitor guards the fields, and the content is made under it.
 */
public final class Recent implements Supplier<byte[]> {
  /** How old the content may be, in nanoseconds. */
  static final long OLDEST_NANOS = 200_000_000L;

  private final Supplier<byte[]> maker;
  private final LongSupplier nanoTime;
  private byte @Nullable [] content;
  private long madeAt;

  /**
   * Creates content that is not made yet.
   *
   * @param maker makes the content; waits for nothing, or only for a moment
   * @param nanoTime a clock of nanoseconds
   */
  public Recent(Supplier<byte[]> maker, LongSupplier nanoTime) {
    this.maker = maker;
    this.nanoTime = nanoTime;
  }

  @Override
  public synchronized byte[] get() {
    long now = nanoTime.getAsLong();
    byte[] last = content;
    if (last == null || now - madeAt >= OLDEST_NANOS) {
      last = maker.get();
      content = last;
      madeAt = now;
    }
    return last;
  }
}
