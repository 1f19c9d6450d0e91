package io.holdfast.fs.residency;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of residents as a file on tmpfs. All numbers have 64 bits:
 *
 * <pre>
 *  0 format
 *  8 first record, and behind it the others
 *
 * record:
 *  0 the node of an item that becomes resident, or the complement of the node of one that is
 *    released; 0 is the end
 *  8 extent
 * </pre>
 *
 * A record is valid from the moment its node, which is written last, is there. Opening the file
 * compacts it: a new file without the released items replaces it. A file of another format, or with
 * an invalid record, is ignored as a whole, and its items are fetched again.
 *
 * <p>Thread-safe; the monitor guards the end.
 */
public final class ResidentFile implements ResidentLog, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ResidentFile.class);

  /** Changes with the format. "HFresid" and a number. */
  private static final long FORMAT = 0x4846_7265_7369_6402L;

  private static final int HEADER = Long.BYTES;
  private static final int EXTENT = Long.BYTES;
  private static final int RECORD = 2 * Long.BYTES;

  private final GrowingMemory memory;
  private final List<ItemKey> before;
  private long end = HEADER;
  private long live;

  private ResidentFile(GrowingMemory memory, List<ItemKey> before) throws FsException {
    this.memory = memory;
    this.before = before;
    for (ItemKey item : before) {
      reserve();
      admitted(item);
    }
  }

  /**
   * Opens the file of the previous daemon, or creates one. If the previous daemon's end has taken a
   * part of the log with it, nothing counts as resident.
   *
   * @param elsewhere directories for records that find no room there
   */
  public static ResidentFile open(Path file, List<Path> elsewhere) throws FsException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    try {
      List<ItemKey> left = Files.exists(file) ? left(file) : List.of();
      Files.deleteIfExists(next);
      ResidentFile opened = new ResidentFile(GrowingMemory.at(next, elsewhere), left);
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      return opened;
    } catch (IOException e) {
      throw new FsException(FsError.IO, file + ": " + e.getMessage(), e);
    }
  }

  private static List<ItemKey> left(Path file) throws FsException {
    String why = "it is no log that this version knows";
    try (GrowingMemory old = GrowingMemory.at(file)) {
      Set<ItemKey> left = new LinkedHashSet<>();
      if (old.reserved() == 0) {
        return List.of(); // nothing was ever resident
      }
      if (old.reserved() >= HEADER && read(old.address(), old.reserved(), left)) {
        return List.copyOf(left);
      }
    } catch (FsException e) {
      if (e.code() != FsError.UNAVAILABLE && e.code() != FsError.UNSUPPORTED) {
        throw e;
      }
      why = String.valueOf(e.getMessage());
    }
    log.warn("{}: nothing counts as resident from before, and is fetched again: {}", file, why);
    return List.of();
  }

  /** Reads the records; returns whether they are a valid log. */
  private static boolean read(long address, long size, Set<ItemKey> into) {
    if (Memory.getLong(address) != FORMAT) {
      return false;
    }
    for (long at = HEADER; at <= size - RECORD; at += RECORD) {
      long node = Memory.getLong(address + at);
      if (node == 0) {
        return true;
      }
      VarHandle.acquireFence();
      long extent = Memory.getLong(address + at + EXTENT);
      if (extent < 0) {
        return false;
      }
      if (node > 0) {
        into.add(new ItemKey(node, extent));
      } else {
        into.remove(new ItemKey(~node, extent));
      }
    }
    return true;
  }

  @Override
  public synchronized void reserve() throws FsException {
    // all residents, their releases, one more with its release, and the end
    memory.reserve(end + (live + 3) * RECORD);
    Memory.putLong(memory.address(), FORMAT);
  }

  @Override
  public synchronized void admitted(ItemKey item) {
    live++;
    append(item.node(), item.extent());
  }

  @Override
  public synchronized void released(ItemKey item) {
    live--;
    append(~item.node(), item.extent());
  }

  private void append(long node, long extent) {
    long record = memory.address() + end;
    Memory.putLong(record + EXTENT, extent);
    VarHandle.releaseFence();
    Memory.putLong(record, node);
    end += RECORD;
  }

  @Override
  public List<ItemKey> before() {
    return before;
  }

  @Override
  public void close() {
    memory.close();
  }
}
