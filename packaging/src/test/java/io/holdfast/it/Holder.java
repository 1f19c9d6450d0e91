package io.holdfast.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program that keeps stamped files open and mapped: {@code Holder FILE STAMP [FILE STAMP]...}.
 * Says {@code open} once it holds them, and then answers each line of its input with one line:
 *
 * <pre>
 * read OFFSET LENGTH [N]    through the descriptor of the Nth file, or else of the first
 * touch OFFSET LENGTH [N]   through the mapping
 * </pre>
 *
 * Answers are {@code version N length N}, {@code wrong ...} or {@code error ...}.
 */
final class Holder {
  private final FileChannel file;
  private final MappedByteBuffer map;
  private final long stamp;

  private Holder(FileChannel file, MappedByteBuffer map, long stamp) {
    this.file = file;
    this.map = map;
    this.stamp = stamp;
  }

  public static void main(String[] arguments) throws IOException {
    List<Holder> holders = new ArrayList<>();
    for (int i = 0; i < arguments.length; i += 2) {
      FileChannel file = FileChannel.open(Path.of(arguments[i]));
      MappedByteBuffer map = file.map(MapMode.READ_ONLY, 0, file.size());
      holders.add(new Holder(file, map, Long.parseLong(arguments[i + 1])));
    }
    System.out.println("open");
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] command = line.split(" ", -1);
        int holder = command.length > 3 ? Integer.parseInt(command[3]) : 0;
        System.out.println(holders.get(holder).answer(command));
      }
    }
  }

  private String answer(String[] command) {
    long offset = Long.parseLong(command[1]);
    byte[] bytes = new byte[Integer.parseInt(command[2])];
    try {
      int length = command[0].equals("read") ? read(offset, bytes) : touch((int) offset, bytes);
      Stamps.Finding finding = Stamps.check(stamp, offset, bytes, length);
      return finding.isWhole()
          ? "version %d length %d".formatted(finding.version(), length)
          : "wrong " + finding.wrong();
    } catch (IOException | InternalError e) {
      return "error " + e;
    }
  }

  private int read(long offset, byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      if (file.read(buffer, offset + buffer.position()) < 0) {
        break;
      }
    }
    return buffer.position();
  }

  /**
   * A page that cannot be had any more is a signal to the process, which the JVM turns into an
   * InternalError.
   */
  private int touch(int offset, byte[] bytes) {
    map.get(offset, bytes);
    return bytes.length;
  }
}
