package io.holdfast.fs.bpf;

import io.holdfast.fs.FsException;

/**
 * Where a program finds what it reads of a file: offsets in bytes from the beginning of the
 * structure.
 *
 * @param inode of the pointer to the inode, in a file
 * @param mode of the mode, in an inode
 * @param number of the inode's number, in an inode
 * @param size of the size in bytes, in an inode
 * @param superblock of the pointer to the superblock, in an inode
 * @param device of the device number, in a superblock
 * @param magic of the filesystem's number, in a superblock
 */
record FileOffsets(
    int inode, int mode, int number, int size, int superblock, int device, int magic) {
  /**
   * Reads the offsets of the structures that a function gets; its first parameter is a file.
   *
   * @throws FsException if this kernel has others
   */
  static FileOffsets of(Btf btf, int function) throws FsException {
    int file = btf.pointee(btf.parameter(function, 0));
    Btf.Member toInode = btf.member(file, "f_inode", Long.BYTES);
    int inode = btf.pointee(toInode.type());
    Btf.Member toSuperblock = btf.member(inode, "i_sb", Long.BYTES);
    int superblock = btf.pointee(toSuperblock.type());
    return new FileOffsets(
        toInode.offset(),
        btf.member(inode, "i_mode", Short.BYTES).offset(),
        btf.member(inode, "i_ino", Long.BYTES).offset(),
        btf.member(inode, "i_size", Long.BYTES).offset(),
        toSuperblock.offset(),
        btf.member(superblock, "s_dev", Integer.BYTES).offset(),
        btf.member(superblock, "s_magic", Long.BYTES).offset());
  }
}
