package io.holdfast.fs.residency;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import jnr.ffi.Pointer;

/** A file as an application uses it: opened, read and mapped. */
final class MappedFile implements AutoCloseable {
  private static final int PROT_READ = 1;
  private static final int MAP_SHARED = 1;

  private final int fd;
  private final long length;
  private long address;

  MappedFile(Path path) throws IOException {
    length = Files.size(path);
    long text = Linux.scratch().path();
    Memory.putString(text, Linux.pathBytes(path.toString()));
    fd = LIBC.openat(Linux.AT_FDCWD, text, Linux.O_RDONLY | Linux.O_CLOEXEC, 0);
  }

  void map() {
    Pointer mapping = LIBC.mmap(null, length, PROT_READ, MAP_SHARED, fd, 0);
    address = mapping.address();
    for (long at = address; at < address + length; at += Linux.PAGE_SIZE) {
      Memory.getByte(at);
    }
  }

  void unmap() {
    LIBC.munmap(address, length);
  }

  /** Reads all pages in. */
  void read() {
    long buffer = LIBC.malloc(length);
    LIBC.pread(fd, buffer, length, 0);
    LIBC.free(buffer);
  }

  long cachedPages() {
    return Linux.cachedPages(fd, 0, length);
  }

  /** Asks the kernel to drop the pages, as {@code drop_caches} would. */
  void drop() {
    LIBC.posix_fadvise(fd, 0, 0, Linux.POSIX_FADV_DONTNEED);
  }

  @Override
  public void close() {
    LIBC.close(fd);
  }
}
