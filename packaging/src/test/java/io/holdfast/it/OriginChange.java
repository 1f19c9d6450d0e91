package io.holdfast.it;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Optional;

/** The ways in which a file changes. */
enum OriginChange {
  REPLACED_BY_LARGER {
    @Override
    Optional<byte[]> apply(Path file, long stamp, int size) throws IOException {
      return Optional.of(replace(file, Stamps.bytes(stamp, 2, 0, size + 54_321)));
    }
  },
  REPLACED_BY_SAME_SIZE {
    @Override
    Optional<byte[]> apply(Path file, long stamp, int size) throws IOException {
      return Optional.of(replace(file, Stamps.bytes(stamp, 2, 0, size)));
    }
  },
  REWRITTEN_IN_PLACE {
    @Override
    Optional<byte[]> apply(Path file, long stamp, int size) throws IOException {
      byte[] bytes = Stamps.bytes(stamp, 2, 0, size);
      Files.write(file, bytes, WRITE);
      return Optional.of(bytes);
    }
  },
  /** As {@code cp -p} does it. */
  REWRITTEN_WITH_ITS_TIME {
    @Override
    Optional<byte[]> apply(Path file, long stamp, int size) throws IOException {
      FileTime time = Files.getLastModifiedTime(file);
      byte[] bytes = Stamps.bytes(stamp, 2, 0, size);
      Files.write(file, bytes, WRITE);
      Files.setLastModifiedTime(file, time);
      return Optional.of(bytes);
    }
  },
  /** As {@code tar -x} does it; on ext4 the new file has the inode number of the old one. */
  REMADE_WITH_ITS_TIME {
    @Override
    Optional<byte[]> apply(Path file, long stamp, int size) throws IOException {
      FileTime time = Files.getLastModifiedTime(file);
      Files.delete(file);
      byte[] bytes = Stamps.bytes(stamp, 2, 0, size);
      Files.write(file, bytes);
      Files.setLastModifiedTime(file, time);
      return Optional.of(bytes);
    }
  },
  TRUNCATED {
    @Override
    Optional<byte[]> apply(Path file, long stamp, int size) throws IOException {
      try (FileChannel channel = FileChannel.open(file, WRITE)) {
        channel.truncate(size / 3);
      }
      return Optional.of(Stamps.bytes(stamp, 1, 0, size / 3));
    }
  },
  APPENDED {
    @Override
    Optional<byte[]> apply(Path file, long stamp, int size) throws IOException {
      Files.write(file, Stamps.bytes(stamp, 1, size, 54_321), APPEND);
      return Optional.of(Stamps.bytes(stamp, 1, 0, size + 54_321));
    }
  },
  DELETED {
    @Override
    Optional<byte[]> apply(Path file, long stamp, int size) throws IOException {
      Files.delete(file);
      return Optional.empty();
    }
  };

  /** Changes a file and returns its new content; nothing if the file has gone. */
  abstract Optional<byte[]> apply(Path file, long stamp, int size) throws IOException;

  static byte[] replace(Path file, byte[] bytes) throws IOException {
    Path fresh = Files.write(file.resolveSibling("fresh.tmp"), bytes);
    Files.move(fresh, file, ATOMIC_MOVE, REPLACE_EXISTING);
    return bytes;
  }
}
