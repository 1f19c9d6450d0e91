package io.holdfast.fs.origin.s3;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A range of a file as a stream. For one thread. */
final class PartStream extends InputStream {
  private final FileChannel file;
  private final long end;
  private long at;

  /** Opens a file for its bytes from {@code begin} to {@code end}. */
  PartStream(Path path, long begin, long end) {
    try {
      file = FileChannel.open(path, StandardOpenOption.READ);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.at = begin;
    this.end = end;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    int count = file.read(ByteBuffer.wrap(to, offset, (int) Math.min(length, end - at)), at);
    if (at >= end || count < 0) {
      return -1;
    }
    at += count;
    return count;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
