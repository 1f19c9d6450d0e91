package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import jnr.constants.platform.Errno;

/**
 * How far the store is, in a file of the front. Each change is durable when its method returns, so
 * that a crash of the machine does not hide it. Only the persister's thread uses it.
 *
 * <pre>
 * cursor: 0 magic i64, 8 durable i64: all operations up to this one are durable in the store,
 *         16 begun i64: the operation that may have been applied, too; 0 if none, 24 its witness i64, 32 CRC32C u32
 * </pre>
 */
final class Cursor implements AutoCloseable {
  private static final long MAGIC = 0x686f6c6466737431L; // "holdfst1"
  private static final int LENGTH = 36;
  private static final int CHECKED = 32;

  private final int fd;
  private final String name;
  private final long address = LIBC.malloc(LENGTH);
  private final ByteBuffer buffer = Memory.buffer(address, LENGTH);
  private long durable;
  private long begun;
  private long witness;

  /** Opens the file, or begins one: the store has nothing of this front then. */
  Cursor(Path file) throws ErrnoException {
    name = file.toString();
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(name));
    int flags = FileTree.O_RDWR | FileTree.O_CREAT | Linux.O_CLOEXEC;
    fd = LIBC.openat(Linux.AT_FDCWD, path, flags, 0600);
    if (fd < 0) {
      throw ErrnoException.of(Linux.errno(), name);
    }
    if (FileTree.stat(fd).size() == 0) {
      write(0, 0, 0);
    } else {
      FileTree.readFully(fd, address, LENGTH, 0, name);
      boolean whole = buffer.getInt(CHECKED) == checksum() && buffer.getLong(0) == MAGIC;
      if (!whole) {
        throw ErrnoException.because(
            Errno.EIO, name, "damaged: where the store is cannot be known; use an empty front");
      }
      durable = buffer.getLong(8);
      begun = buffer.getLong(16);
      witness = buffer.getLong(24);
    }
  }

  long durable() {
    return durable;
  }

  long begun() {
    return begun;
  }

  long witness() {
    return witness;
  }

  /** All operations up to this one are durable in the store. */
  void setDurable(long sequence) throws ErrnoException {
    write(sequence, 0, witness);
  }

  /** An operation is about to change the store; also a crash of the machine does not hide that. */
  void begin(long sequence, long seen) throws ErrnoException {
    write(durable, sequence, seen);
  }

  /** If this fails, the store is asked again for what it was asked for before. */
  private void write(long nextDurable, long nextBegun, long nextWitness) throws ErrnoException {
    buffer.putLong(0, MAGIC).putLong(8, nextDurable);
    buffer.putLong(16, nextBegun).putLong(24, nextWitness);
    buffer.putInt(CHECKED, checksum());
    if (FileTree.write(fd, address, LENGTH, 0) < LENGTH) {
      throw ErrnoException.of(Linux.errno(), name);
    }
    if (LIBC.fdatasync(fd) != 0) {
      throw ErrnoException.of(Linux.errno(), name);
    }
    durable = nextDurable;
    begun = nextBegun;
    witness = nextWitness;
  }

  private int checksum() {
    return OperationsLog.crc(buffer.duplicate().position(0).limit(CHECKED));
  }

  @Override
  public void close() {
    LIBC.close(fd);
    LIBC.free(address);
  }
}
