package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.NativeBytes;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Asker;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.ListedEntry;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.StoreFigures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/** A root with one file, by as many names as a test wants. */
final class OneFile implements Filesystem {
  static final Duration TTL = Duration.ofMillis(1500);
  static final long FILE = 8;
  static final int SIZE = 100_000;

  private final Pointer bytes =
      jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), SIZE, true);
  final List<Runnable> held = new CopyOnWriteArrayList<>();
  final AtomicInteger lookups = new AtomicInteger();
  volatile boolean holdReads;
  volatile CountDownLatch holdLookups = new CountDownLatch(0);
  volatile int entries = 1;
  volatile Duration names = TTL;
  volatile Runnable whenListed = () -> {};

  /** The type of the listed entry. */
  volatile int type = Attributes.REGULAR;

  OneFile() {
    for (int i = 0; i < SIZE; i++) {
      Memory.putByte(bytes.address() + i, byteAt(i));
    }
  }

  static byte byteAt(int offset) {
    return (byte) ((offset * 31) >> 3);
  }

  private static Attributes attributes(int type, long size) {
    return new Attributes(type | 0755, 1, 0, 0, 0, 7, size, 1, 0, 0, 0, "");
  }

  @Override
  public void kernelDecidesByAcls() {}

  @Override
  public Entry lookup(long parent, byte[] name, Asker asker) throws FsException {
    lookups.incrementAndGet();
    Await.latch(holdLookups);
    if (!new String(name, StandardCharsets.UTF_8).equals("file")) {
      throw new FsException(FsError.NOT_FOUND, "none");
    }
    return new Entry(FILE, attributes(Attributes.REGULAR, SIZE));
  }

  @Override
  public Entry known(long parent, byte[] name) {
    return new Entry(FILE, attributes(Attributes.REGULAR, SIZE));
  }

  @Override
  public Attributes attributes(long node) {
    return node == FILE
        ? attributes(Attributes.REGULAR, SIZE)
        : attributes(Attributes.DIRECTORY, 0);
  }

  @Override
  public byte[] readLink(long node, int thread, int uid) throws FsException {
    throw new FsException(FsError.INVALID, "no link");
  }

  @Override
  public boolean isCurrent(long node) {
    return true;
  }

  @Override
  public Duration believeNames(long directory) {
    return names;
  }

  @Override
  public Duration believeAttributes(long node) {
    return TTL;
  }

  @Override
  public void list(long directory, long after, IntPredicate looks, ListSink sink) {
    whenListed.run();
    for (long place = after + 1; place <= entries; place++) {
      byte[] name = ("file" + (place == 1 ? "" : place)).getBytes(StandardCharsets.UTF_8);
      ListedEntry entry =
          looks.test(type)
              ? new ListedEntry(name, place, new Entry(FILE, attributes(type, SIZE)))
              : new ListedEntry(name, place, type, 7);
      if (!sink.take(entry)) {
        return;
      }
    }
  }

  @Override
  public void read(long node, long offset, int length, int thread, ReadReply reply) {
    int count = (int) Math.min(length, SIZE - offset);
    Runnable answer = () -> reply.data(NativeBytes.at(bytes.address() + offset, count));
    if (holdReads) {
      held.add(answer);
    } else {
      answer.run();
    }
  }

  @Override
  public void opened(long node, int thread) {}

  @Override
  public byte[] extendedAttribute(long node, byte[] name) {
    return new byte[5];
  }

  @Override
  public byte[] extendedAttributeNames(long node, int uid) {
    return new byte[0];
  }

  @Override
  public StoreFigures figures() {
    return new StoreFigures(1, 1, 1, 1, 1, 1, 1, 1, 255);
  }
}
