package io.holdfast.fs.mount.jnr;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.StoreFigures;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.Statvfs;

/**
 * Writes struct stat and struct statvfs, whose layouts jnr-fuse knows for each kind of machine.
 * Used by one thread.
 */
final class StatBuffers {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final Runtime runtime = Runtime.getSystemRuntime();
  private final FileStat stat = new FileStat(runtime);
  private final Statvfs statvfs = new Statvfs(runtime);

  void write(Attributes from, long address) {
    stat.useMemory(Pointer.wrap(runtime, address));
    stat.st_ino.set(from.inode());
    stat.st_mode.set(from.mode());
    stat.st_nlink.set(from.links());
    stat.st_uid.set(from.uid());
    stat.st_gid.set(from.gid());
    stat.st_rdev.set(from.device());
    stat.st_size.set(from.size());
    stat.st_blksize.set(Linux.PAGE_SIZE);
    stat.st_blocks.set(from.blocks());
    stat.st_atim.tv_sec.set(Math.floorDiv(from.accessed(), NANOS_PER_SECOND));
    stat.st_atim.tv_nsec.set(Math.floorMod(from.accessed(), NANOS_PER_SECOND));
    stat.st_mtim.tv_sec.set(Math.floorDiv(from.modified(), NANOS_PER_SECOND));
    stat.st_mtim.tv_nsec.set(Math.floorMod(from.modified(), NANOS_PER_SECOND));
    stat.st_ctim.tv_sec.set(Math.floorDiv(from.changed(), NANOS_PER_SECOND));
    stat.st_ctim.tv_nsec.set(Math.floorMod(from.changed(), NANOS_PER_SECOND));
  }

  /** Writes the type and inode number of an entry, for a listing. */
  void write(int type, long inode, long address) {
    stat.useMemory(Pointer.wrap(runtime, address));
    stat.st_ino.set(inode);
    stat.st_mode.set(type);
  }

  void write(StoreFigures from, long address) {
    statvfs.useMemory(Pointer.wrap(runtime, address));
    statvfs.f_bsize.set(from.blockSize());
    statvfs.f_frsize.set(from.fragmentSize());
    statvfs.f_blocks.set(from.blocks());
    statvfs.f_bfree.set(from.blocksFree());
    statvfs.f_bavail.set(from.blocksAvailable());
    statvfs.f_files.set(from.files());
    statvfs.f_ffree.set(from.filesFree());
    statvfs.f_favail.set(from.filesAvailable());
    statvfs.f_namemax.set(from.nameLength());
  }
}
