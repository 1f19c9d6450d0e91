package io.holdfast.chaos;

import com.sun.nio.file.ExtendedOpenOption;
import io.holdfast.it.Stamps;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/**
 * Reads stamped files in several ways and checks them: each through one descriptor, so all of it
 * must be of one version. For one thread. Needs nothing but the JDK.
 */
final class VersionReads {
  static final int SMALL_BUFFER = 64 << 10;
  static final int LARGE_BUFFER = 1 << 20;

  private static final int PLACES = 6;
  private static final int DIRECT_BUFFER = 256 << 10;

  private final Path root;
  private final VersionedFiles files;

  VersionReads(Path root, VersionedFiles files) {
    this.root = root;
    this.files = files;
  }

  /** The bytes that were read, their version, and an error, empty if there is none. */
  record Result(long length, long version, String wrong) {
    Result and(Stamps.Finding part, int partLength) {
      if (!wrong.isEmpty() || partLength == 0) {
        return this;
      }
      String found = part.wrong();
      // the end of a file, less than a record, does not tell its version
      long then = part.version() == -1 ? version : part.version();
      if (found.isEmpty() && version != -1 && then != version) {
        found = "version %d before %d, version %d then".formatted(version, length, then);
      }
      return new Result(length + partLength, then, found);
    }
  }

  private static final Result NOTHING = new Result(0, -1, "");

  private Path path(int file) {
    return root.resolve(files.name(file));
  }

  /** From beginning to end. */
  Result whole(int file, int bufferSize) throws IOException {
    byte[] buffer = new byte[bufferSize];
    try (InputStream in = Files.newInputStream(path(file))) {
      Result all = NOTHING;
      int length;
      do {
        length = in.readNBytes(buffer, 0, buffer.length);
        all = all.and(Stamps.check(file, all.length(), buffer, length), length);
      } while (length == buffer.length && all.wrong().isEmpty());
      return ofFullLength(file, all);
    }
  }

  private Result ofFullLength(int file, Result all) {
    if (!all.wrong().isEmpty()) {
      return all;
    }
    if (all.version() < 1) {
      return new Result(all.length(), all.version(), "no version in " + all.length() + " bytes");
    }
    int size = files.size(file, all.version());
    return all.length() == size
        ? all
        : new Result(
            all.length(),
            all.version(),
            "%d bytes of version %d, which has %d".formatted(all.length(), all.version(), size));
  }

  /** Some places, through one descriptor. */
  Result places(int file, Random random) throws IOException {
    try (FileChannel channel = FileChannel.open(path(file))) {
      Result all = NOTHING;
      for (int i = 0; i < PLACES; i++) {
        int length = Stamps.RECORD * (1 + random.nextInt(2000));
        int records = (files.leastSize(file) - length) / Stamps.RECORD;
        long offset = (long) random.nextInt(records) * Stamps.RECORD;
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining() && channel.read(buffer, offset + buffer.position()) >= 0) {
          // A read may give less than was asked for.
        }
        if (buffer.hasRemaining()) {
          return new Result(all.length(), -1, "ended at " + (offset + buffer.position()));
        }
        all = all.and(Stamps.check(file, offset, buffer.array(), length), length);
      }
      return all;
    }
  }

  /** All of it through a mapping. */
  Result mapped(int file) throws IOException {
    try (FileChannel channel = FileChannel.open(path(file))) {
      MappedByteBuffer map = channel.map(MapMode.READ_ONLY, 0, channel.size());
      byte[] bytes = new byte[map.remaining()];
      map.get(bytes);
      Stamps.Finding finding = Stamps.check(file, 0, bytes, bytes.length);
      return ofFullLength(file, NOTHING.and(finding, bytes.length));
    }
  }

  /** From beginning to end with O_DIRECT. */
  Result direct(int file) throws IOException {
    try (FileChannel channel = openDirect(path(file))) {
      int alignment = (int) Files.getFileStore(path(file)).getBlockSize();
      ByteBuffer buffer =
          ByteBuffer.allocateDirect(DIRECT_BUFFER + alignment).alignedSlice(alignment);
      byte[] bytes = new byte[DIRECT_BUFFER];
      Result all = NOTHING;
      int length;
      do {
        buffer.clear().limit(DIRECT_BUFFER);
        length = channel.read(buffer, all.length());
        if (length > 0) {
          buffer.flip().get(bytes, 0, length);
          all = all.and(Stamps.check(file, all.length(), bytes, length), length);
        }
      } while (length > 0 && length % alignment == 0 && all.wrong().isEmpty());
      return ofFullLength(file, all);
    }
  }

  private static FileChannel openDirect(Path path) throws IOException {
    try {
      return FileChannel.open(path, StandardOpenOption.READ, ExtendedOpenOption.DIRECT);
    } catch (UnsupportedOperationException e) {
      // statfs, of which Java does not tell the error
      throw new FileSystemException(path.toString(), null, "not connected any more");
    }
  }
}
