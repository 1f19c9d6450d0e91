package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.Opcode;
import io.holdfast.fs.mount.PendingReplies;
import io.holdfast.fs.mount.RequestThreads;
import io.holdfast.fs.mount.UnderWay;
import java.util.function.LongConsumer;
import jnr.constants.platform.Errno;

/**
 * Receives requests for one thread, and has libfuse answer them on it. libfuse's own loop uses
 * threads that the virtual machine does not know, so most callbacks would cost an attach.
 */
final class LibfuseReceiver implements RequestThreads.Receiver {
  /**
   * The most threads. A READ that waits keeps its thread, because libfuse wants the bytes when the
   * callback returns. So there is a thread for each reader, and more for the daemon's own reads,
   * which pin residents and so free memory for these reads.
   */
  static final int MOST = 4096;

  /** One more than the other binding has, because a READ that waits keeps its thread. */
  static final int FEW = 3;

  /** The buffer that libfuse 2.9 wants: a request of 128 KiB and its header. */
  private static final int BUFFER = 0x21000;

  /** The header of a reply: 0 length u32, 4 error i32, 8 unique u64. */
  private static final int REPLY = 16;

  private final LibFuse2 libfuse;
  private final long session;
  private final long channel;
  private final Hooks hooks;
  private final Request request;
  private final long memory;
  private int length;

  /** Made here, because there may be no memory for it when it is needed. */
  private final Operations.Action answering = this::answerNow;

  /**
   * The objects that are called beside libfuse.
   *
   * @param pendingReplies learn of lookups, and of the node that a lookup's reply has shown
   * @param interrupted gets each INTERRUPT request
   * @param directories the directories that libfuse must keep
   * @param earlyAnswers answer requests that may change names
   */
  record Hooks(
      PendingReplies pendingReplies,
      LongConsumer interrupted,
      KeptDirectories directories,
      EarlyAnswers earlyAnswers) {}

  /**
   * Creates one for the calling thread.
   *
   * @param request the request of this thread, for its callbacks
   * @throws OutOfMemoryError if there is no memory for requests
   */
  LibfuseReceiver(LibFuse2 libfuse, long session, long channel, Request request, Hooks hooks) {
    this.libfuse = libfuse;
    this.session = session;
    this.channel = channel;
    this.request = request;
    this.hooks = hooks;
    memory = LIBC.malloc(BUFFER + Long.BYTES);
    if (memory == 0) {
      throw OutOfMemory.outsideHeap("a thread's requests");
    }
  }

  @Override
  public int receive() {
    long channelAddress = memory + BUFFER;
    Memory.putLong(channelAddress, channel);
    length = libfuse.fuse_chan_recv(channelAddress, memory, BUFFER);
    if (length > 0) {
      request.begin(memory);
      return request.opcode();
    }
    return length == -Errno.EINTR.intValue() ? RequestThreads.NONE : RequestThreads.ENDED;
  }

  /**
   * Answers the request. If that fails, the reply is an error: the caller would wait for ever. The
   * kernel drops a reply to a request that has its reply, or that wants none.
   */
  @Override
  public void answer() {
    int failure = Operations.answer(answering);
    if (failure != 0) {
      reply(failure);
    }
  }

  private int answerNow() {
    int opcode = request.opcode();
    if (opcode == Opcode.INTERRUPT.code()) {
      hooks.interrupted.accept(memory);
    } else if (opcode == Opcode.STATFS.code()) {
      // asks about the root: every file has the same figures, and libfuse finds no path to a file
      // whose name another version has taken
      Memory.putLong(memory + Request.NODEID, Request.ROOT);
    } else if (Opcode.isForget(opcode)) {
      Forgets.keep(memory, length, hooks.directories);
    }
    if (request.isLookup()) {
      lookup();
    } else {
      if (opcode == Opcode.READDIR.code()) {
        hooks.earlyAnswers.list(request, memory);
      }
      processUnlessFailed();
    }
    return 0;
  }

  private void lookup() {
    UnderWay.Begun begun = hooks.pendingReplies.begin();
    try {
      lookupAndLeave();
    } finally {
      hooks.pendingReplies.replied(begun);
    }
  }

  private void lookupAndLeave() {
    try {
      hooks.earlyAnswers.lookup(request, memory);
      processUnlessFailed();
    } finally {
      Entry shown = request.entry();
      if (shown != null) {
        hooks.pendingReplies.leave(shown.node());
      }
    }
  }

  /**
   * Has libfuse answer. An early answer that is an error is the reply itself: if the directory was
   * replaced meanwhile, libfuse has no path to it, asks nobody, and says that the name is not
   * there. Libfuse also answers where a name really is not there, because it tells the kernel for
   * how long that holds ({@code negative_timeout}).
   */
  private void processUnlessFailed() {
    int failure = request.failure();
    if (failure == 0 || failure == -Errno.ENOENT.intValue()) {
      process();
    } else {
      reply(failure);
    }
  }

  private void reply(int failure) {
    Memory.putInt(memory, REPLY);
    Memory.putInt(memory + 4, failure);
    Memory.putLong(memory + 8, request.unique());
    long unused = LIBC.write(libfuse.fuse_chan_fd(channel), memory, REPLY); // it may be interrupted
  }

  private void process() {
    request.callingBack(() -> libfuse.fuse_session_process(session, memory, length, channel));
  }

  @Override
  public void close() {
    LIBC.free(memory);
  }
}
