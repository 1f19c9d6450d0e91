package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.NativeBytes;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.origin.Attributes;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callbacks as libfuse calls them, without a mount. */
@Timeout(180)
final class OperationsTest {
  private static final long BEFORE = 7;

  private final long path = LIBC.malloc(16);
  private final long buffer = LIBC.malloc(16);
  private final long source = LIBC.malloc(16);
  private final List<ReadReply> passedOn = new ArrayList<>();
  private final Operations operations =
      new Operations(
          filesystem(),
          new Operations.Context(
              ThreadLocal.withInitial(Request::new),
              new WaitingReads(),
              (node, number) -> {},
              new CountDownLatch(1),
              false,
              false));

  @AfterEach
  void free() {
    LIBC.free(path);
    LIBC.free(buffer);
    LIBC.free(source);
  }

  /** A filesystem whose reads fail once somebody has their replies. */
  private Filesystem filesystem() {
    return (Filesystem)
        Proxy.newProxyInstance(
            Filesystem.class.getClassLoader(),
            new Class<?>[] {Filesystem.class},
            (proxy, method, arguments) -> {
              switch (method.getName()) {
                case "known" -> {
                  return new Entry(
                      8,
                      new Attributes(Attributes.REGULAR | 0755, 1, 0, 0, 0, 7, 16, 1, 0, 0, 0, ""));
                }
                case "read" -> {
                  passedOn.add((ReadReply) arguments[4]);
                  throw new OutOfMemoryError("test");
                }
                default -> throw new AssertionError(method.getName());
              }
            });
  }

  /** libfuse frees the buffer when the callback returns. */
  @Test
  void read_thatFailsOnceItsReplyIsPassedOn_leavesTheBufferAlone() {
    Memory.putString(path, "/file".getBytes(StandardCharsets.UTF_8));
    Memory.putLong(buffer, BEFORE);
    Memory.putLong(source, 42);
    assertThat(operations.read(path, buffer, 16, 0, 0)).isEqualTo(-Errno.ENOMEM.intValue());
    assertThat(passedOn).hasSize(1);
    passedOn.get(0).data(NativeBytes.at(source, 8));
    assertThat(Memory.getLong(buffer)).isEqualTo(BEFORE);
  }
}
