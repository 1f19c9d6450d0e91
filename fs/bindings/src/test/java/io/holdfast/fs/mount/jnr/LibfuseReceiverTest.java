package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.Opcode;
import io.holdfast.fs.mount.PendingReplies;
import io.holdfast.fs.origin.Attributes;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests as libfuse passes them on, without a mount. */
final class LibfuseReceiverTest {
  private static final long NODE = 8;
  private static final long UNIQUE = 12;
  private static final int REPLY = 16;

  private final PendingReplies pendingReplies = new PendingReplies();
  private final long memory = LIBC.malloc(64);
  private LibfuseReceiver receiver;

  /** Takes the place of the connection to the kernel. */
  private int replies;

  @BeforeEach
  void create() {
    Memory.putString(memory, "replies".getBytes(StandardCharsets.UTF_8));
    replies = LIBC.memfd_create(memory, 0);
    KeptDirectories directories = new KeptDirectories((number, lookups) -> {});
    directories.add(Filesystem.ROOT, Request.ROOT);
    EarlyAnswers earlyAnswers =
        new EarlyAnswers(
            fake(Filesystem.class, LibfuseReceiverTest::filesystem),
            pendingReplies,
            directories,
            (request, length) -> {});
    receiver =
        new LibfuseReceiver(
            fake(
                LibFuse2.class, (proxy, method, arguments) -> libfuse(method.getName(), arguments)),
            0,
            0,
            new Request(),
            new LibfuseReceiver.Hooks(pendingReplies, request -> {}, directories, earlyAnswers));
  }

  @AfterEach
  void close() {
    receiver.close();
    LIBC.close(replies);
    LIBC.free(memory);
  }

  private static <T> T fake(Class<T> type, InvocationHandler calls) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
  }

  private static Object filesystem(Object proxy, Method method, Object[] arguments) {
    return switch (method.getName()) {
      case "lookup" ->
          new Entry(
              NODE, new Attributes(Attributes.REGULAR | 0755, 1, 0, 0, 0, 7, 16, 1, 0, 0, 0, ""));
      case "isCurrent" -> true;
      default -> throw new AssertionError(method.getName());
    };
  }

  /** Receives a LOOKUP of "file" in the root, and has no memory to answer it. */
  private Object libfuse(String function, Object[] arguments) {
    return switch (function) {
      case "fuse_chan_recv" -> lookup((long) arguments[1]);
      case "fuse_session_process" -> throw new OutOfMemoryError("test");
      case "fuse_chan_fd" -> replies;
      default -> throw new AssertionError(function);
    };
  }

  private static int lookup(long to) {
    byte[] name = "file".getBytes(StandardCharsets.UTF_8);
    int length = Request.HEADER_SIZE + name.length + 1;
    Memory.clear(to, length);
    Memory.putInt(to, length);
    Memory.putInt(to + Request.OPCODE, Opcode.LOOKUP.code());
    Memory.putLong(to + Request.UNIQUE, UNIQUE);
    Memory.putLong(to + Request.NODEID, Request.ROOT);
    Memory.putString(to + Request.HEADER_SIZE, name);
    return length;
  }

  /** Otherwise the caller waits for ever, and so does each refresh. */
  @Test
  void lookup_withoutMemory_getsAnError_andIsOver() {
    assertThat(receiver.receive()).isEqualTo(Opcode.LOOKUP.code());
    assertThatCode(receiver::answer).doesNotThrowAnyException();
    assertThat(LIBC.pread(replies, memory, 64, 0)).isEqualTo(REPLY);
    assertThat(Memory.getInt(memory)).isEqualTo(REPLY);
    assertThat(Memory.getInt(memory + 4)).isEqualTo(-Errno.ENOMEM.intValue());
    assertThat(Memory.getLong(memory + 8)).isEqualTo(UNIQUE);
    assertThat(pendingReplies.earlier().await()).isTrue();
    assertThat(pendingReplies.awaitNone(NODE)).isTrue();
  }
}
