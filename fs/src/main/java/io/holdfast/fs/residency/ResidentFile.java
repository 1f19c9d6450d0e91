package io.holdfast.fs.residency;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The log as a file on tmpfs: 64-bit numbers, an item's id when it becomes resident and the
 * complement of the id when it is released; 0 is the end. Opening it begins a new file, without
 * what has been released, and puts it in the place of the one before.
 *
 * <p>Thread-safe; the monitor guards the end.
 */
public final class ResidentFile implements ResidentLog, AutoCloseable {
  private final GrowingMemory memory;
  private final List<Long> before;
  private long end;
  private long live;

  private ResidentFile(GrowingMemory memory, List<Long> before) throws FsException {
    this.memory = memory;
    this.before = before;
    for (long item : before) {
      reserve();
      admitted(item);
    }
  }

  /** Opens what a daemon before this one has left, or begins. */
  public static ResidentFile open(Path file) throws FsException {
    Set<Long> left = new LinkedHashSet<>();
    if (Files.exists(file)) {
      try (GrowingMemory old = GrowingMemory.at(file)) {
        read(old.address(), left);
      }
    }
    Path next = file.resolveSibling(file.getFileName() + ".next");
    try {
      Files.deleteIfExists(next);
      ResidentFile opened = new ResidentFile(GrowingMemory.at(next), List.copyOf(left));
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      return opened;
    } catch (IOException e) {
      throw new FsException(FsError.IO, file + ": " + e.getMessage(), e);
    }
  }

  private static void read(long address, Set<Long> into) {
    for (long at = address; Memory.getLong(at) != 0; at += Long.BYTES) {
      long entry = Memory.getLong(at);
      if (entry > 0) {
        into.add(entry);
      } else {
        into.remove(~entry);
      }
    }
  }

  @Override
  public synchronized void reserve() throws FsException {
    // what is there, its releases, one more with its release, and the end
    memory.reserve(end + (live + 3) * Long.BYTES);
  }

  @Override
  public synchronized void admitted(long item) {
    live++;
    append(item);
  }

  @Override
  public synchronized void released(long item) {
    live--;
    append(~item);
  }

  private void append(long entry) {
    Memory.putLong(memory.address() + end, entry);
    VarHandle.releaseFence();
    end += Long.BYTES;
  }

  @Override
  public List<Long> before() {
    return before;
  }

  @Override
  public void close() {
    memory.close();
  }
}
