package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * A file with the entries of a tree, so that a later mount need not list the dataset again. It is
 * written and read sequentially, with a buffer of one block.
 *
 * <p>The file has a header and then blocks up to its end, little-endian, each with its CRC32C (RFC
 * 3720):
 *
 * <pre>
 *   header                                    block
 *    0 magic u64                               0 length of the records u32
 *    8 version u32                             4 checksum u32, of the time in the header,
 *   12 length of the header u32                    the block's number u32, its length and
 *   16 number of entries u64                       its records
 *   24 length of all blocks u64                8 records, each whole
 *   32 time of writing i64, ns since 1970
 *   40 the same by the steady clock i64, ns
 *   48 the boot of the steady clock, 16 bytes
 *   64 the dataset, UTF-8
 *      checksum u32 of all bytes before
 * </pre>
 *
 * <p>Numbers within records are varints: 7 bits a byte, the lowest first; the eighth bit tells that
 * more follow. Signed numbers are zigzag-coded. There are two kinds of records. First come the
 * entries without the root, each directory before its entries:
 *
 * <pre>
 *   flags u8, the FLAG_ constants of {@link ImageRecords}
 *   directory      index among the directories so far, 0 for the root; unless that of the entry before
 *   name           length, bytes
 *   owner          mode, links, uid, gid, acl; unless those of the entry before
 *   size, inode    inode signed, less that of the entry before
 *   blocks         signed, less those that the size needs
 *   modified       signed, less that of the entry before
 *   times          accessed and changed, signed, less modified; unless both are modified
 *   device, etag   if flagged; the etag as the name
 *   generation     if flagged
 * </pre>
 *
 * <p>Then comes a record for each directory that was listed completely: flags; the directory's
 * index, less that of the record before; the time of the listing, and the directory's own change
 * time or 0, both in ns since 1970, signed, less those of the record before.
 *
 * <p>A change of this layout needs another {@link #VERSION}. Not thread-safe.
 */
public final class TreeImage implements AutoCloseable {
  /** The layout described here. */
  static final int VERSION = 3;

  /** "hf-tree" and a line feed. */
  static final long MAGIC = 0x0a65_6572_742d_6668L;

  static final int VERSION_AT = 8;
  static final int LENGTH_AT = 12;
  static final int ENTRIES_AT = 16;
  static final int CONTENT_AT = 24;
  static final int TIME_AT = 32;
  static final int STEADY_AT = 40;
  static final int BOOT_AT = 48;
  static final int DATASET_AT = 64;
  private static final int LONGEST_HEADER = 64 << 10;

  private static final FileAttribute<?> MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final FileChannel channel;
  private final Header header;

  /** Takes the entries of an image. */
  public interface Sink {
    /**
     * Takes an entry.
     *
     * @param directory what this method returned for the directory; {@link Tree#ROOT} for the root
     * @return the entry's id, for the entries below it
     */
    long entry(long directory, byte[] name, Attributes attributes) throws FsException;

    /**
     * Learns that a directory was listed completely.
     *
     * @param at the time of the listing, in ns since 1970
     * @param changed as {@link ListingTimes#listedChanged} returns it
     */
    void listed(long directory, long at, long changed);
  }

  private record Header(int length, long entries, long content, Moment written, String dataset) {
    byte[] bytes() {
      ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
      buffer.putLong(MAGIC).putInt(VERSION).putInt(length);
      buffer.putLong(entries).putLong(content);
      buffer.putLong(written.ofDay()).putLong(written.steady());
      UUID boot = written.boot();
      buffer.putLong(boot.getMostSignificantBits()).putLong(boot.getLeastSignificantBits());
      buffer.put(utf8(dataset));
      buffer.putInt(checksum(buffer.array(), buffer.position()));
      return buffer.array();
    }
  }

  private TreeImage(FileChannel channel, Header header) {
    this.channel = channel;
    this.header = header;
  }

  /**
   * Writes the live nodes. On return they are on stable storage; the file is replaced atomically.
   *
   * @param dataset tells this dataset from all others
   * @param listings tells which directories have been listed completely
   * @return bytes of the file
   * @throws IOException where the file cannot be written; no other file is left behind
   */
  static long write(Path file, String dataset, Moment now, NodeTable nodes, ListingTimes listings)
      throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(fresh);
    try {
      long length = writeFresh(fresh, dataset, now, new ImageWriter(nodes, listings));
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
      Path directory = file.toAbsolutePath().getParent();
      try (FileChannel entry = FileChannel.open(directory, StandardOpenOption.READ)) {
        entry.force(true);
      }
      return length;
    } finally {
      Files.deleteIfExists(fresh);
    }
  }

  private static long writeFresh(Path file, String dataset, Moment now, ImageWriter writer)
      throws IOException {
    int length = headerLength(dataset);
    if (length > LONGEST_HEADER) {
      throw new IOException("the dataset's name is too long");
    }
    try (FileChannel channel =
        FileChannel.open(Files.createFile(file, MODE), StandardOpenOption.WRITE)) {
      channel.position(length);
      BlockOutput blocks = new BlockOutput(channel, now.ofDay());
      long entries = writer.write(blocks);
      Header header = new Header(length, entries, channel.position() - length, now, dataset);
      BlockOutput.writeFully(channel.position(0), ByteBuffer.wrap(header.bytes()));
      channel.force(true);
      return length + header.content();
    }
  }

  private static int headerLength(String dataset) {
    return DATASET_AT + utf8(dataset).length + Integer.BYTES;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static int checksum(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }

  /**
   * Opens a file and verifies all checksums, so that a later read returns what was written.
   *
   * @param dataset the dataset that the file must be of
   * @throws java.nio.file.NoSuchFileException where there is no file
   * @throws IOException where the file is of another version or dataset, or damaged; the message
   *     has one line
   */
  public static TreeImage open(Path file, String dataset) throws IOException {
    FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
    try {
      Header header = readHeader(channel);
      if (!Arrays.equals(utf8(header.dataset), utf8(dataset))) {
        throw new IOException("it is of another dataset, " + header.dataset);
      }
      TreeImage image = new TreeImage(channel, header);
      BlockInput blocks = image.blocks();
      while (blocks.next()) {
        // next() verifies the checksum
      }
      return image;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static Header readHeader(FileChannel channel) throws IOException {
    ByteBuffer head = littleEndian(BlockInput.read(channel, DATASET_AT));
    if (head.getLong(0) != MAGIC) {
      throw new IOException("it is no state file");
    }
    if (head.getInt(VERSION_AT) != VERSION) {
      throw new IOException(
          "it has version " + head.getInt(VERSION_AT) + ", and this is " + VERSION);
    }
    int length = head.getInt(LENGTH_AT);
    if (length < headerLength("") || length > LONGEST_HEADER) {
      throw new IOException("its header is damaged");
    }
    byte[] bytes = BlockInput.read(channel, length);
    ByteBuffer whole = littleEndian(bytes);
    int checked = length - Integer.BYTES;
    if (checksum(bytes, checked) != whole.getInt(checked)) {
      throw new IOException("its header is damaged");
    }
    Header header =
        new Header(
            length,
            whole.getLong(ENTRIES_AT),
            whole.getLong(CONTENT_AT),
            new Moment(
                whole.getLong(STEADY_AT),
                whole.getLong(TIME_AT),
                new UUID(whole.getLong(BOOT_AT), whole.getLong(BOOT_AT + Long.BYTES))),
            new String(bytes, DATASET_AT, checked - DATASET_AT, StandardCharsets.UTF_8));
    if (channel.size() != length + header.content) {
      throw new IOException(
          "it has " + channel.size() + " bytes instead of " + (length + header.content));
    }
    return header;
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private BlockInput blocks() throws IOException {
    return new BlockInput(channel.position(header.length), header.content, header.written.ofDay());
  }

  /** Returns the number of entries, without the root. */
  public long entries() {
    return header.entries;
  }

  /** Returns the moment at which the image was written. */
  public Moment written() {
    return header.written;
  }

  /**
   * Passes all entries, each directory before its entries, and then the completely listed
   * directories.
   *
   * @throws IOException where the file can no longer be read
   * @throws FsException from the sink
   */
  void read(Sink sink) throws IOException, FsException {
    new ImageReader(blocks(), sink).read(header.entries);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
