package io.holdfast.fs.checkpoint;

import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import jnr.constants.platform.Errno;

/**
 * Records of numbers that the kernel knows, in memory that outlives the process: a daemon that is
 * killed leaves them to the next one. Ids are never used twice.
 *
 * <pre>
 * first record: 0 the next id i64
 * record:       0 id i64, 0 if it is free, 8 first i64, 16 second i64, 24 third i64
 * </pre>
 *
 * <p>A process that is killed leaves each record as it was before a change or after it: a record's
 * id is written last. Not thread-safe.
 */
final class RecordTable {
  /** A record, for the process that goes on. */
  record Kept(long at, long id, long first, long second, long third) {}

  private static final int RECORD = 32;
  private static final int FIRST = 8;
  private static final int SECOND = 16;
  private static final int THIRD = 24;

  private final GrowingMemory memory;
  private final ArrayDeque<Long> free = new ArrayDeque<>();
  private final List<Kept> kept = new ArrayList<>();
  private long end = RECORD;

  /**
   * Uses memory, and finds the records that an earlier process has left in it.
   *
   * @param firstId the first id if there was no earlier process
   */
  RecordTable(GrowingMemory memory, long firstId) throws ErrnoException {
    this.memory = memory;
    for (long at = RECORD; at + RECORD <= memory.reserved(); at += RECORD) {
      long id = Memory.getLong(memory.address() + at);
      if (id != 0) {
        long from = memory.address() + at;
        kept.add(
            new Kept(
                at,
                id,
                Memory.getLong(from + FIRST),
                Memory.getLong(from + SECOND),
                Memory.getLong(from + THIRD)));
        for (long unused = end; unused < at; unused += RECORD) {
          free.add(unused);
        }
        end = at + RECORD;
      }
    }
    reserve(end);
    if (Memory.getLong(memory.address()) == 0) {
      Memory.putLong(memory.address(), firstId);
    }
  }

  /** Returns the records that an earlier process has left. */
  List<Kept> kept() {
    return List.copyOf(kept);
  }

  /** Returns an id that no record has had. */
  long nextId() {
    long id = Memory.getLong(memory.address());
    Memory.putLong(memory.address(), id + 1);
    return id;
  }

  /**
   * Adds a record.
   *
   * @return where it is
   * @throws ErrnoException ENOMEM if there is no memory for it
   */
  long add(long id, long first, long second, long third) throws ErrnoException {
    Long unused = free.poll();
    long at = unused == null ? end : unused;
    if (unused == null) {
      reserve(end + RECORD);
      end += RECORD;
    }
    long to = memory.address() + at;
    Memory.putLong(to + FIRST, first);
    Memory.putLong(to + SECOND, second);
    Memory.putLong(to + THIRD, third);
    Memory.putLong(to, id);
    return at;
  }

  private void reserve(long bytes) throws ErrnoException {
    try {
      memory.reserve(bytes);
    } catch (IOException e) {
      throw ErrnoException.because(Errno.ENOMEM, "", String.valueOf(e.getMessage()));
    }
  }

  /** Changes the second number of a record. */
  void setSecond(long at, long value) {
    Memory.putLong(memory.address() + at + SECOND, value);
  }

  /** Changes the third number of a record. */
  void setThird(long at, long value) {
    Memory.putLong(memory.address() + at + THIRD, value);
  }

  /** Removes a record. */
  void remove(long at) {
    Memory.putLong(memory.address() + at, 0);
    free.add(at);
  }
}
