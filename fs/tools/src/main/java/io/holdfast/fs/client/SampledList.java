package io.holdfast.fs.client;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.sampler.TorchSampler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The lines of a file in the order of a sampler. Keeps 8 bytes a line in memory, and reads a line
 * when it is asked for. Not thread-safe.
 */
public final class SampledList implements Iterator<String>, AutoCloseable {
  private final String name;
  private final FileChannel file;
  private final int[] starts;
  private final int[] indices;
  private final ByteBuffer line = ByteBuffer.allocate(PathLines.LONGEST + 1);
  private int next;

  private SampledList(String name, FileChannel file, int[] starts, int[] indices) {
    this.name = name;
    this.file = file;
    this.starts = starts;
    this.indices = indices;
  }

  /** Finds the lines of a regular file, and the order in which a sampler reads them. */
  public static SampledList open(String name, TorchSampler sampler) throws IOException {
    if (name.equals("-")) {
      throw CliException.usage("--list - is not possible: give a file, which is read twice");
    }
    int[] starts = PathLines.starts(name);
    if (starts.length == 0) {
      throw CliException.usage("--list '" + name + "' has no names: give one with some");
    }
    int[] indices;
    try {
      indices = sampler.indices(starts.length);
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--epoch: " + e.getMessage(), e);
    }
    return new SampledList(name, FileChannel.open(Path.of(name)), starts, indices);
  }

  /** Returns how many lines the order has. */
  public int size() {
    return indices.length;
  }

  @Override
  public boolean hasNext() {
    return next < indices.length;
  }

  @Override
  public String next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    int index = indices[next++];
    try {
      return read(index);
    } catch (IOException e) {
      throw PathLines.unreadable(name, e);
    }
  }

  private String read(int index) throws IOException {
    long start = Integer.toUnsignedLong(starts[index]);
    line.clear();
    if (index + 1 < starts.length) {
      long behind = Integer.toUnsignedLong(starts[index + 1]) - start;
      line.limit((int) Math.min(line.capacity(), behind));
    }
    while (line.hasRemaining() && file.read(line, start + line.position()) > 0) {
      // a read may bring a part
    }
    int length = 0;
    while (length < line.position() && line.get(length) != '\n') {
      length++;
    }
    return new String(line.array(), 0, length, StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
