package io.holdfast.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.transfer.BufferLease;
import io.holdfast.peer.transfer.ItemPath;
import io.holdfast.peer.transfer.ItemProvider;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Refusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A node without a mount over some small files and some of nearly 2^63 bytes, all of them in
 * memory. Whatever it is asked, it answers with what the file has there; anything else is an
 * AssertionError. Not thread-safe.
 */
final class HugeFiles implements AutoCloseable {
  static final int ITEM = 1 << 16;

  private static final Path MEMORY = Path.of("/dev/shm");
  private static final NodeAddress SELF = new NodeAddress("self", 7070);
  private static final long CAPACITY = 2 << 20;
  private static final long LONGEST_SECONDS = 60;
  private static final int SMALL_FILES = 8;
  private static final byte[] MARK = "not yours".getBytes(UTF_8);

  private final Path root;
  private final CoreNode core;
  private final SharedDataset dataset = new SharedDataset("huge", ITEM);
  private final List<FileChannel> files = new ArrayList<>();
  private final List<Filesystem.Entry> entries = new ArrayList<>();
  private final List<String> names = new ArrayList<>();

  HugeFiles() throws IOException {
    root = Files.createTempDirectory(MEMORY, "holdfast-huge-");
    for (int i = 0; i < SMALL_FILES; i++) {
      byte[] bytes = new byte[i * i * 3_001 + 1];
      new Random(i).nextBytes(bytes);
      create("small" + i).write(ByteBuffer.wrap(bytes));
    }
    for (long size : new long[] {Long.MAX_VALUE, 1L << 62, (1L << 53) + 1, (1L << 24) * ITEM - 1}) {
      FileChannel file = create("huge" + size);
      file.write(ByteBuffer.wrap(new byte[1]), size - 1);
      // where items of other nodes had the numbers of its own
      for (long k = 1; k < 1 << 12 && k * ITEM < size >> 24; k += 7) {
        file.write(ByteBuffer.wrap(MARK), (k << 24) * ITEM);
      }
    }
    ClusterNode self = new ClusterNode(SELF, dataset, CAPACITY);
    core =
        new CoreNode(
            PosixOrigin.open(root, () -> Instant.now().plus(Duration.ofHours(1))),
            root,
            new CoreNode.Place(
                self,
                List.of(self),
                (node, request, address, answered) -> {
                  throw new AssertionError("nobody else is there");
                },
                (node, request) -> {}));
    for (String name : names) {
      entries.add(core.filesystem.lookup(Filesystem.ROOT, bytes(name), CoreSystem.ASKER));
    }
    for (int i = 0; i < SMALL_FILES; i++) {
      read(i, 0, ITEM);
    }
    if (!askWithin(0, 0, 0, 1)) {
      throw new AssertionError("a peer gets nothing at all");
    }
  }

  private FileChannel create(String name) throws IOException {
    FileChannel file =
        FileChannel.open(
            root.resolve(name),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    names.add(name);
    files.add(file);
    return file;
  }

  private static byte[] bytes(String name) {
    return name.getBytes(UTF_8);
  }

  int count() {
    return names.size();
  }

  long size(int file) {
    return entries.get(file).attributes().size();
  }

  /** Reads as the kernel has it read by a program. */
  void read(int file, long offset, int length) {
    byte[] given = answer(entries.get(file).node(), offset, length);
    if (given != null) {
      compare(file, offset, (int) Math.min(length, Math.max(0, size(file) - offset)), given);
    }
  }

  /**
   * Reads of a node that does not exist. Leaves out numbers between known ones, because a kernel
   * makes up no numbers.
   */
  void readNode(long node, long offset, int length) {
    if (node >= 0 && node < 1 << 20) {
      read((int) (node % entries.size()), offset, length);
      return;
    }
    byte[] given = answer(node, offset, length);
    if (given != null && given.length > 0 && node < 1L << 62) {
      throw new AssertionError("bytes of node " + node + ", which is none");
    }
  }

  private byte @Nullable [] answer(long node, long offset, int length) {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    core.filesystem.read(
        node,
        offset,
        length,
        0,
        new ReadReply() {
          @Override
          public void data(CheckedBytes bytes) {
            answer.complete(Memory.bytes(bytes.address(), bytes.length()));
          }

          @Override
          public void failed(FsException cause) {
            answer.completeExceptionally(cause);
          }
        });
    return await(answer);
  }

  /** Returns null where it was refused; that nobody was about to get foreign bytes is checked. */
  private static byte @Nullable [] await(CompletableFuture<byte[]> answer) {
    try {
      return answer.orTimeout(LONGEST_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof FsException refused) {
        if (String.valueOf(refused.getMessage()).contains("not handed over")) {
          throw new AssertionError("the last check had to hold it back", refused);
        }
        return null;
      }
      throw e;
    }
  }

  private void compare(int file, long offset, int length, byte[] given) {
    ByteBuffer there = ByteBuffer.allocate(length);
    try {
      while (there.hasRemaining() && files.get(file).read(there, offset + there.position()) > 0) {}
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!Arrays.equals(there.array(), given)) {
      throw new AssertionError(
          "other bytes than %d at %d of %s: %d"
              .formatted(length, offset, names.get(file), given.length));
    }
  }

  /** Asks for the figures of a file's items. */
  void items(int file) {
    long start = System.nanoTime();
    try {
      byte[] name = bytes("user.holdfast.items");
      String items =
          new String(core.filesystem.extendedAttribute(entries.get(file).node(), name), UTF_8);
      long all = size(file) / ITEM + (size(file) % ITEM == 0 ? 0 : 1);
      if (!items.endsWith("/" + all)) {
        throw new AssertionError(items + " of " + size(file) + " bytes");
      }
    } catch (FsException e) {
      throw new UncheckedIOException(e);
    }
    if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(LONGEST_SECONDS / 2)) {
      throw new AssertionError("it took long to count the items of " + names.get(file));
    }
  }

  /** Asks as a peer does; returns whether there was an answer with bytes. */
  boolean ask(int file, long extent, int itemLength, int from, int length) {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    core.service.get(
        new ItemRequest(
            dataset,
            ItemPath.of(bytes(names.get(file))),
            extent,
            tag(file),
            itemLength,
            from,
            length,
            false),
        SELF,
        true,
        new ItemProvider.Answer() {
          @Override
          public void lent(BufferLease loan) {
            try (loan) {
              answer.complete(Memory.bytes(loan.address(), loan.length()));
            }
          }

          @Override
          public void refused(Refusal refusal) {
            answer.completeExceptionally(new FsException(FsError.IO, refusal + ""));
          }
        });
    byte[] given = await(answer);
    if (given != null) {
      compare(file, Math.addExact(Math.multiplyExact(extent, ITEM), from), length, given);
    }
    return given != null;
  }

  /** Asks for a part that may well be there. */
  boolean askWithin(int file, long extent, int from, int length) {
    long extents = Math.max(1, (size(file) - 1) / ITEM + 1);
    long one = Math.floorMod(extent, extents);
    int itemLength = (int) Math.min(ITEM, size(file) - one * ITEM);
    return ask(file, one, itemLength, from, length);
  }

  private String tag(int file) {
    Attributes attributes = entries.get(file).attributes();
    return "%x-%x.%x".formatted(attributes.size(), attributes.modified(), attributes.changed());
  }

  @Override
  public void close() {
    core.close();
    core.free();
    for (int i = 0; i < files.size(); i++) {
      try {
        files.get(i).close();
        Files.deleteIfExists(root.resolve(names.get(i)));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    try {
      Files.deleteIfExists(root);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
