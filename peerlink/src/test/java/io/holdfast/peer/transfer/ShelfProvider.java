package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A provider whose items are on a shelf; counts the loans that were not given back. */
final class ShelfProvider implements ItemProvider, AutoCloseable {
  static final long RESIDENT = 4711;

  final Map<ItemPath, byte[]> items = new ConcurrentHashMap<>();
  final Queue<ItemRequest> asked = new ConcurrentLinkedQueue<>();
  final Queue<NodeAddress> askers = new ConcurrentLinkedQueue<>();
  final Queue<String> held = new ConcurrentLinkedQueue<>();
  final AtomicInteger loans = new AtomicInteger();

  /** The sketch of its dataset. */
  volatile CompletableFuture<String> sketch = new CompletableFuture<>();

  /** Thrown in place of the sketch, where it is set. */
  volatile @Nullable Error failure;

  /** The offer of a plan. */
  volatile OwnText plan = new OwnText("");

  final Queue<Sketches> sketches = new ConcurrentLinkedQueue<>();

  /** Answers instead, where it is set. */
  volatile @Nullable Consumer<Answer> instead;

  @Override
  public void get(ItemRequest request, Asker from, Answer answer) {
    asked.add(request);
    sketches.add(from.sketches());
    askers.add(from.node());
    Consumer<Answer> other = instead;
    byte[] bytes = items.get(request.path());
    if (other != null) {
      other.accept(answer);
    } else if (bytes == null || request.length() > bytes.length - request.from()) {
      answer.refused(request.onlyIfCached() ? Refusal.NOT_CACHED : Refusal.UNKNOWN);
    } else {
      answer.lent(lend(bytes, request.from(), request.length()));
    }
  }

  BufferLease lend(byte[] bytes, int from, int length) {
    loans.incrementAndGet();
    return new ArrayLoan(
        Unpooled.directBuffer(Math.max(1, length)).writeBytes(bytes, from, length));
  }

  @Override
  public void held(ItemRequest request, Asker by) {
    held.add(request.path() + " by " + by.node());
  }

  @Override
  public long residentBytes() {
    return RESIDENT;
  }

  @Override
  public CompletableFuture<String> sketch(NodeAddress peer) {
    Error thrown = failure;
    if (thrown != null) {
      throw thrown;
    }
    return sketch;
  }

  @Override
  public OwnText plan(NodeAddress peer) {
    return plan;
  }

  /** Checks that nothing is lent any more. */
  @Override
  public void close() {
    Eventually.holds("all loans are given back", () -> loans.get() == 0);
  }

  private final class ArrayLoan implements BufferLease {
    private final ByteBuf memory;

    ArrayLoan(ByteBuf memory) {
      this.memory = memory;
    }

    @Override
    public long address() {
      return memory.memoryAddress();
    }

    @Override
    public int length() {
      return memory.writerIndex();
    }

    @Override
    public byte[] sha256() {
      try {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(memory.nioBuffer());
        return digest.digest();
      } catch (NoSuchAlgorithmException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void close() {
      if (!memory.release()) {
        throw new IllegalStateException("given back twice");
      }
      loans.decrementAndGet();
    }
  }
}
