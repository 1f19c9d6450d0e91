package io.holdfast.peer.transfer;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Takes the answer to one request, and checks it. Belongs to one event loop. */
interface Sink {
  /** Takes some of the body. */
  void take(ByteBuf bytes);

  /** Returns how it ended, all of the body having been taken; null where something is wrong. */
  @Nullable Outcome outcome();

  /** Returns what is wrong with the answer, if anything. */
  @Nullable String wrong();

  /** Returns what the peer told of its residents; -1 where it did not. */
  long residentBytes();
}
