package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of the operations that may not be durable in the store yet, in files of the front. A
 * record is written with one system call, before its operation is applied to the front, so that it
 * is there after the process was killed. To survive the machine, too, it has to be synced.
 *
 * <pre>
 * segment: SEQUENCE.log, named by the first sequence number in it, 20 digits; records one after the other
 * record:  0 length u32 of what follows the checksum, 4 CRC32C of it, 8 sequence i64, 16 time i64 (ns of the epoch),
 *          24 witness i64, 32 kind u8, 33 what {@link Operation#encode} wrote
 * saved:   the same with kind 255: 33 sequence of a write i64, 41 offset in its file i64, 49 bytes
 * </pre>
 *
 * <p>All numbers are big-endian. A record whose checksum is wrong ends the log: it was being
 * written when the machine stopped. Not thread-safe; the {@link Front} guards it.
 */
final class OperationsLog implements AutoCloseable {
  /** An operation in the log. */
  record Entry(long sequence, long time, long witness, Operation operation) {}

  /**
   * Bytes of an earlier write, saved because a later operation was about to destroy them.
   *
   * @param sequence of the write
   * @param offset of the first byte in its file
   * @param segment the file that has the bytes, from {@code position} on
   */
  record Saved(long sequence, long offset, int length, long segment, long position) {}

  /** Takes what an existing log has, in its order. */
  interface Reader {
    void entry(Entry entry) throws IOException;

    void saved(Saved saved) throws IOException;
  }

  private static final Logger log = LoggerFactory.getLogger(OperationsLog.class);

  private static final String SUFFIX = ".log";
  private static final int PREFIX = 8;
  private static final int HEADER = 33;
  private static final int SAVED = 255;
  private static final int SAVED_HEADER = HEADER + 16;
  static final int LARGEST_RECORD = 4 << 20;
  private static final long SEGMENT = 64L << 20;
  private static final int KEEP_SIZE = 1;

  /** Bytes that the file system keeps for the log: when it is full, files can still be removed. */
  private static final int RESERVE = 256 << 10;

  private final Path directory;
  private final long address = LIBC.malloc(LARGEST_RECORD);
  private final ByteBuffer buffer = Memory.buffer(address, LARGEST_RECORD);

  /** The segments by their first sequence number, and the bytes of each. */
  private final TreeMap<Long, Long> segments = new TreeMap<>();

  private long next;
  private final int directoryFd;
  private int fd = -1;
  private long end;
  private long attempts;

  /** The segment whose name is durable. */
  private long namedSegment = -1;

  private long reservedEnd;
  private boolean canReserve = true;
  private long lastLength;
  private boolean endsWithEntry;

  /**
   * Opens a log, and reads what is in it.
   *
   * @param first the sequence number of the next entry, unless the log has later ones
   */
  OperationsLog(Path directory, long first, Reader reader) throws IOException {
    this.directory = directory;
    next = first;
    Files.createDirectories(directory);
    directoryFd = open(directory, Linux.O_RDONLY | Linux.O_DIRECTORY);
    List<Long> found = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        found.add(Long.parseLong(name.substring(0, name.length() - SUFFIX.length())));
      }
    }
    Collections.sort(found);
    boolean whole = true;
    for (long segment : found) {
      if (whole) {
        whole = read(segment, reader);
      } else {
        log.warn("{} follows a record that is torn, and is removed", file(segment));
        Files.delete(file(segment));
      }
    }
    if (segments.isEmpty()) {
      begin();
    } else {
      long last = segments.lastKey();
      end = segments.get(last);
      fd = open(last, FileTree.O_RDWR);
    }
  }

  private Path file(long segment) {
    return directory.resolve("%020d%s".formatted(segment, SUFFIX));
  }

  private int open(long segment, int flags) throws ErrnoException {
    return open(file(segment), flags);
  }

  private static int open(Path file, int flags) throws ErrnoException {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(file.toString()));
    int opened = LIBC.openat(Linux.AT_FDCWD, path, flags | Linux.O_CLOEXEC, 0600);
    if (opened < 0) {
      throw ErrnoException.of(Linux.errno(), file.toString());
    }
    return opened;
  }

  /** Begins a segment behind a full one, which is durable from now on. */
  private void beginNext() throws ErrnoException {
    if (LIBC.fdatasync(fd) != 0 || LIBC.fsync(directoryFd) != 0) {
      throw ErrnoException.of(Linux.errno(), file(segments.lastKey()).toString());
    }
    begin();
  }

  /** Begins a segment, named by the next entry. */
  private void begin() throws ErrnoException {
    int begun = open(next, FileTree.O_RDWR | FileTree.O_CREAT);
    if (fd >= 0) {
      LIBC.close(fd);
    }
    fd = begun;
    end = 0;
    reservedEnd = 0;
    segments.put(next, 0L);
  }

  /** Reads a segment; returns false if its end is torn, which is cut off then. */
  private boolean read(long segment, Reader reader) throws IOException {
    int opened = open(segment, FileTree.O_RDWR);
    try {
      long size = FileTree.stat(opened).size();
      long at = 0;
      int length = record(opened, at, size);
      while (length > 0) {
        take(segment, at, length, reader);
        at += length;
        length = record(opened, at, size);
      }
      segments.put(segment, at);
      if (at < size) {
        log.warn("{} ends with {} bytes that are no record", file(segment), size - at);
        LIBC.ftruncate(opened, at);
        return false;
      }
      return true;
    } finally {
      LIBC.close(opened);
    }
  }

  /** Reads a record into the buffer; returns its length, or 0 if there is no whole one. */
  private int record(int opened, long at, long size) throws ErrnoException {
    if (size - at < HEADER) {
      return 0;
    }
    FileTree.readFully(opened, address, PREFIX, at, "");
    long length = PREFIX + Integer.toUnsignedLong(buffer.getInt(0));
    if (length < HEADER || length > LARGEST_RECORD || length > size - at) {
      return 0;
    }
    FileTree.readFully(opened, address, (int) length, at, "");
    return buffer.getInt(4) == checksum((int) length) ? (int) length : 0;
  }

  private int checksum(int length) {
    return crc(buffer.duplicate().position(PREFIX).limit(length));
  }

  /** Returns the CRC32C of the bytes that remain in a buffer. */
  static int crc(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  private void take(long segment, long at, int length, Reader reader) throws IOException {
    long sequence = buffer.getLong(8);
    int kind = buffer.get(HEADER - 1) & 0xff;
    lastLength = length;
    endsWithEntry = kind != SAVED;
    if (kind == SAVED) {
      reader.saved(
          new Saved(
              buffer.getLong(HEADER),
              buffer.getLong(HEADER + 8),
              length - SAVED_HEADER,
              segment,
              at + SAVED_HEADER));
      return;
    }
    byte[] body = new byte[length - HEADER];
    buffer.duplicate().position(HEADER).get(body);
    Operation operation =
        Operation.decode(kind, new DataInputStream(new ByteArrayInputStream(body)));
    reader.entry(new Entry(sequence, buffer.getLong(16), buffer.getLong(24), operation));
    next = sequence + 1;
  }

  /**
   * Appends an operation that is about to be applied.
   *
   * @param time nanoseconds of the epoch
   * @param witness what {@link Operation#witness} says of the front
   */
  Entry append(long time, long witness, Operation operation) throws ErrnoException {
    // one that has saves and no entry yet would begin over itself
    if (end > SEGMENT && segments.lastKey() != next) {
      beginNext();
    }
    reserve();
    Entry entry = new Entry(next, time, witness, operation);
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try {
      operation.encode(new DataOutputStream(body));
    } catch (IOException e) {
      throw new IllegalStateException(e); // in memory
    }
    buffer.clear().position(HEADER);
    buffer.put(body.toByteArray());
    write(entry.sequence(), time, witness, operation.kind());
    next++;
    return entry;
  }

  /** Takes the last append back, because its operation failed. */
  void retract() throws ErrnoException {
    end -= lastLength;
    next--;
    segments.put(segments.lastKey(), end);
    if (LIBC.ftruncate(fd, end) != 0) {
      throw ErrnoException.of(Linux.errno(), file(segments.lastKey()).toString());
    }
    reservedEnd = 0;
    reserve();
  }

  /** Has the file system keep room behind the end, as far as it has some. */
  private void reserve() {
    if (!canReserve || reservedEnd - end >= RESERVE / 2) {
      return;
    }
    if (LIBC.fallocate(fd, KEEP_SIZE, end, RESERVE) == 0) {
      reservedEnd = end + RESERVE;
    } else {
      canReserve = Linux.errno() == Errno.ENOSPC.intValue();
    }
  }

  /** The most bytes that {@link #save} takes at once. */
  static final int LARGEST_SAVE = 1 << 20;

  /**
   * Saves bytes of an earlier write.
   *
   * @param from descriptor of the file that still has them
   */
  Saved save(long sequence, int from, long offset, int length) throws ErrnoException {
    FileTree.readFully(from, address + SAVED_HEADER, length, offset, "");
    buffer.clear();
    buffer.putLong(HEADER, sequence);
    buffer.putLong(HEADER + 8, offset);
    buffer.position(SAVED_HEADER + length);
    long position = end + SAVED_HEADER;
    write(next, 0, 0, SAVED);
    return new Saved(sequence, offset, length, segments.lastKey(), position);
  }

  /** Writes the record whose body is in the buffer up to its position. */
  private void write(long sequence, long time, long witness, int kind) throws ErrnoException {
    int length = buffer.position();
    buffer.putInt(0, length - PREFIX);
    buffer.putLong(8, sequence);
    buffer.putLong(16, time);
    buffer.putLong(24, witness);
    buffer.put(HEADER - 1, (byte) kind);
    buffer.putInt(4, checksum(length));
    attempts++;
    int written = FileTree.write(fd, address, length, end);
    if (written < length) {
      int errno = Linux.errno();
      LIBC.ftruncate(fd, end);
      reservedEnd = 0;
      reserve();
      throw ErrnoException.of(errno, file(segments.lastKey()).toString());
    }
    lastLength = length;
    end += length;
    segments.put(segments.lastKey(), end);
  }

  /** Reads bytes that were saved. */
  void read(Saved saved, int skip, long to, int length) throws ErrnoException {
    int opened = open(saved.segment(), Linux.O_RDONLY);
    try {
      FileTree.readFully(opened, to, length, saved.position() + skip, "");
    } finally {
      LIBC.close(opened);
    }
  }

  /** Returns how often an entry was written, or was to be. */
  long attempts() {
    return attempts;
  }

  /** Returns the sequence number of the last entry. */
  long last() {
    return next - 1;
  }

  /** Tells whether the log that was read ends with an entry, which may not have been applied. */
  boolean endsWithEntry() {
    return endsWithEntry;
  }

  /** Returns the bytes of all segments. */
  long bytes() {
    return segments.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns a descriptor of the segment that is written, to sync and to close. */
  int duplicate() throws ErrnoException {
    int copy = LIBC.fcntl(fd, Linux.F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
      throw ErrnoException.of(Linux.errno(), file(segments.lastKey()).toString());
    }
    return copy;
  }

  /** Returns the segment that is written. */
  long segment() {
    return segments.lastKey();
  }

  /** Tells whether a crash of the machine cannot take the name of a segment away. */
  boolean isNamed(long segment) {
    return segment == namedSegment;
  }

  /** Notes that the directory was synced since a segment began. */
  void named(long segment) {
    namedSegment = segment;
  }

  /** Returns the descriptor of the directory, to sync it. */
  int directory() {
    return directoryFd;
  }

  /** Removes the segments that hold no entry behind this one. */
  void trim(long sequence) throws ErrnoException {
    Map.Entry<Long, Long> second = segments.higherEntry(segments.firstKey());
    while (second != null && second.getKey() <= sequence + 1) {
      delete(segments.firstKey());
      second = segments.higherEntry(segments.firstKey());
    }
    if (segments.size() == 1 && sequence == last() && end > 0) {
      long old = segments.firstKey();
      if (old == next) { // it has only what was saved
        LIBC.ftruncate(fd, 0);
        end = 0;
        reservedEnd = 0;
        segments.put(old, 0L);
      } else {
        begin();
        delete(old);
      }
      reserve();
    }
  }

  private void delete(long segment) {
    segments.remove(segment);
    try {
      Files.deleteIfExists(file(segment));
    } catch (IOException e) {
      log.warn("{} cannot be removed", file(segment), e);
    }
  }

  @Override
  public void close() {
    LIBC.close(fd);
    LIBC.close(directoryFd);
    LIBC.free(address);
  }
}
