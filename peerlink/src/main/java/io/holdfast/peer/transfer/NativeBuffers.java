package io.holdfast.peer.transfer;

import com.kenai.jffi.MemoryIO;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Wraps native memory, which its owner allocates and frees, in Netty's buffers. */
final class NativeBuffers {
  private static final MemoryIO IO = MemoryIO.getInstance();

  private NativeBuffers() {}

  /** Returns a buffer over this memory, all of it readable. */
  static ByteBuf at(long address, int length) {
    return length == 0
        ? Unpooled.EMPTY_BUFFER
        : Unpooled.wrappedBuffer(IO.newDirectByteBuffer(address, length));
  }
}
