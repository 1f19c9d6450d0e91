package io.holdfast.fs.stats;

import io.holdfast.fs.bpf.OpenRing;
import java.util.Map;

/** Opens that a program in the kernel tells. */
final class RingOpens implements OpenSource {
  private final OpenRing ring;
  private long lost;
  private long overflows;

  RingOpens(OpenRing ring) {
    this.ring = ring;
  }

  @Override
  public boolean await(int millis) {
    return ring.await(millis);
  }

  @Override
  public boolean take(Map<Integer, OpenBatch> byThread) {
    ring.take((thread, inode, size) -> OpenBatch.add(byThread, thread, inode, size));
    long now = ring.lost();
    if (now != lost) {
      lost = now;
      overflows++;
    }
    return false;
  }

  @Override
  public long overflows() {
    return overflows;
  }

  @Override
  public void close() {
    ring.close();
  }
}
