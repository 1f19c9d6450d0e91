package io.holdfast.peer.transfer;

import com.kenai.jffi.MemoryIO;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Native memory that somebody else allocated and frees, as Netty wants it. */
final class NativeMemory {
  private static final MemoryIO IO = MemoryIO.getInstance();

  private NativeMemory() {}

  /** Returns a buffer over this memory, all of it readable. */
  static ByteBuf at(long address, int length) {
    return length == 0
        ? Unpooled.EMPTY_BUFFER
        : Unpooled.wrappedBuffer(IO.newDirectByteBuffer(address, length));
  }
}
