package io.holdfast.fs.origin;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.Sandbox;
import io.holdfast.fs.linux.NativeFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A store that is a directory. */
public final class PosixStore implements DirectoryStore, AutoCloseable {
  private static final byte[] ASIDE = OriginStore.bytes(".aside");

  /** A name that Java's own file calls can handle has at most so many bytes. */
  private static final int SHORT = 1000;

  private final Sandbox sandbox;

  public PosixStore() throws IOException {
    sandbox = Sandbox.create();
  }

  public Path root() {
    return sandbox.root();
  }

  private Path path(byte[] path) {
    return sandbox.path(new String(path, StandardCharsets.UTF_8));
  }

  @Override
  public void file(byte[] path, byte[] content) throws IOException {
    String root = sandbox.root().toString();
    if (path.length < SHORT && isText(path) && Files.exists(path(path))) {
      NativeFiles.file(root, ASIDE, content);
      Files.move(path(ASIDE), path(path), StandardCopyOption.ATOMIC_MOVE);
    } else {
      NativeFiles.file(root, path, content);
    }
  }

  private static boolean isText(byte[] path) {
    for (byte each : path) {
      if (each < ' ') {
        return false;
      }
    }
    return true;
  }

  @Override
  public void directory(byte[] path) {
    NativeFiles.directory(sandbox.root().toString(), path);
  }

  @Override
  public void symlink(byte[] path, byte[] target) {
    NativeFiles.symlink(sandbox.root().toString(), path, target);
  }

  @Override
  public void fifo(byte[] path) {
    NativeFiles.fifo(sandbox.root().toString(), path);
  }

  @Override
  public void append(byte[] path, byte[] content) throws IOException {
    Files.write(path(path), content, StandardOpenOption.APPEND);
  }

  /** The clock of file times ticks some hundred times a second only, so the time is set as well. */
  @Override
  public void overwrite(byte[] path, byte[] content) throws IOException {
    Path file = path(path);
    java.nio.file.attribute.FileTime before = Files.getLastModifiedTime(file);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }
    if (Files.getLastModifiedTime(file).equals(before)) {
      Files.setLastModifiedTime(
          file, java.nio.file.attribute.FileTime.from(before.toInstant().plusNanos(1)));
    }
  }

  @Override
  public void remove(byte[] path) throws IOException {
    Files.delete(path(path));
  }

  @Override
  public void attribute(byte[] path, String name, byte[] value) {
    assumeTrue(
        NativeFiles.attribute(path(path).toString(), name, value),
        "a filesystem with extended attributes");
  }

  @Override
  public long open() throws IOException {
    return sandbox.openDescriptors();
  }

  @Override
  public void close() throws IOException {
    sandbox.close();
  }
}
