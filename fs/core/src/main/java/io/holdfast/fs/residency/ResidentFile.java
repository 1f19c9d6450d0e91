package io.holdfast.fs.residency;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.OutOfMemory;
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
 * A record is valid from the moment its node, which is written last, is there. A compacted log, a
 * new file without the released items, replaces the file when it is opened, and when most of its
 * records are of released items. A file of another format, or with an invalid record, is ignored as
 * a whole, and its items are fetched again.
 *
 * <p>Thread-safe; the monitor guards the fields that are not final, and the items from before.
 */
public final class ResidentFile implements ResidentLog, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ResidentFile.class);

  /** Changes with the format. "HFresid" and a number. */
  private static final long FORMAT = 0x4846_7265_7369_6402L;

  private static final int HEADER = Long.BYTES;
  private static final int EXTENT = Long.BYTES;
  private static final int RECORD = 2 * Long.BYTES;

  /** A log is compacted when it has so many records for each resident, and is this long. */
  private static final int RECORDS_OF_A_RESIDENT = 4;

  private static final long WORTH_IT = 4 << 20;

  private final Path file;
  private final List<Path> elsewhere;

  /** The residents of the previous daemon that this one has neither admitted nor released. */
  private final Set<ItemKey> before;

  private GrowingMemory memory;
  private long end;
  private long live;

  /** The length below which the log is not compacted; grows where that has failed. */
  private long longest = WORTH_IT;

  private ResidentFile(Path file, List<Path> elsewhere, Set<ItemKey> before) throws FsException {
    this.file = file;
    this.elsewhere = elsewhere;
    this.before = before;
    memory = replace(file, elsewhere, before, true);
    end = end(before);
    live = before.size();
  }

  /**
   * Opens the file of the previous daemon, or creates one. If the previous daemon's end has taken a
   * part of the log with it, nothing counts as resident.
   *
   * @param elsewhere directories for records that find no room there
   */
  public static ResidentFile open(Path file, List<Path> elsewhere) throws FsException {
    return new ResidentFile(file, elsewhere, left(file));
  }

  /**
   * Writes a log of some items, and puts it in the place of the file.
   *
   * @param inParts whether a part of it may be elsewhere
   * @throws FsException NO_MEMORY if a part would have to be
   */
  private static GrowingMemory replace(
      Path file, List<Path> elsewhere, Set<ItemKey> items, boolean inParts) throws FsException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    GrowingMemory written = null;
    boolean done = false;
    try {
      Files.deleteIfExists(next);
      written = GrowingMemory.at(next, elsewhere);
      if (!items.isEmpty()) {
        reserve(written, end(items), items.size(), inParts);
      }
      long at = HEADER;
      for (ItemKey item : items) {
        put(written.address() + at, item.node(), item.extent());
        at += RECORD;
      }
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      done = true;
      return written;
    } catch (IOException e) {
      throw new FsException(FsError.IO, file + ": " + e.getMessage(), e);
    } finally {
      if (!done && written != null) {
        written.close();
      }
      if (!done) {
        remove(next);
      }
    }
  }

  private static void remove(Path unfinished) {
    try {
      Files.deleteIfExists(unfinished);
    } catch (IOException e) {
      log.debug("{} stays: {}", unfinished, e.getMessage());
    }
  }

  private static long end(Set<ItemKey> items) {
    return HEADER + (long) items.size() * RECORD;
  }

  private static Set<ItemKey> left(Path file) throws FsException {
    if (!Files.exists(file)) {
      return new LinkedHashSet<>();
    }
    String why = "it is no log that this version knows";
    try (GrowingMemory old = GrowingMemory.at(file)) {
      Set<ItemKey> left = new LinkedHashSet<>();
      if (old.reserved() == 0) {
        return left; // nothing was ever resident
      }
      if (old.reserved() >= HEADER && read(old.address(), old.reserved(), left)) {
        return left;
      }
    } catch (FsException e) {
      if (e.code() != FsError.UNAVAILABLE && e.code() != FsError.UNSUPPORTED) {
        throw e;
      }
      why = String.valueOf(e.getMessage());
    }
    log.warn("{}: nothing counts as resident from before, and is fetched again: {}", file, why);
    return new LinkedHashSet<>();
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
    if (end > longest && end > HEADER + RECORDS_OF_A_RESIDENT * live * RECORD) {
      compactIfInOnePart();
    }
    reserve(memory, end, live, true);
  }

  private static void reserve(GrowingMemory memory, long end, long live, boolean inParts)
      throws FsException {
    // all residents, their releases, one more with its release, and the end
    long needed = end + (live + 3) * RECORD;
    if (inParts) {
      memory.reserve(needed);
    } else {
      memory.reserveInFile(needed);
    }
    Memory.putLong(memory.address(), FORMAT);
  }

  /**
   * Replaces the log by one of the residents alone. Where that fails, this one goes on. A log with
   * a part elsewhere is not replaced: the new one's part has the same name, and if the daemon is
   * killed before the new log has its place, the next daemon finds neither.
   */
  private void compactIfInOnePart() {
    longest = 2 * end;
    if (memory.elsewhere() > 0) {
      return;
    }
    try {
      Set<ItemKey> residents = new LinkedHashSet<>();
      if (read(memory.address(), end, residents)) {
        GrowingMemory replaced = memory;
        memory = replace(file, elsewhere, residents, false);
        end = end(residents);
        longest = WORTH_IT;
        replaced.close();
      }
    } catch (FsException e) {
      log.warn("the list of residents stays as long as it is: {}", e.getMessage());
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
    }
  }

  @Override
  public synchronized void admitted(ItemKey item) {
    if (!before.remove(item)) { // it is in the log otherwise
      live++;
      append(item.node(), item.extent());
    }
  }

  @Override
  public synchronized void released(ItemKey item) {
    before.remove(item);
    live--;
    append(~item.node(), item.extent());
  }

  @Override
  public synchronized void notTakenOver(ItemKey item) {
    if (before.contains(item)) {
      released(item);
    }
  }

  private void append(long node, long extent) {
    put(memory.address() + end, node, extent);
    end += RECORD;
  }

  private static void put(long record, long node, long extent) {
    Memory.putLong(record + EXTENT, extent);
    VarHandle.releaseFence();
    Memory.putLong(record, node);
  }

  @Override
  public synchronized List<ItemKey> before() {
    return List.copyOf(before);
  }

  @Override
  public synchronized void close() {
    memory.close();
  }
}
