package io.holdfast.peer.transfer;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Takes the answer to one request, and checks it. Belongs to one event loop. */
interface Sink {
  /** Takes some bytes of the body. */
  void take(ByteBuf bytes);

  /** Returns the result after the whole body was taken; null where the answer is wrong. */
  @Nullable TransferResult outcome();

  /** Returns what is wrong with the answer, or null. */
  @Nullable String wrong();

  /** Returns the peer's resident bytes; -1 where it did not tell. */
  long residentBytes();
}
