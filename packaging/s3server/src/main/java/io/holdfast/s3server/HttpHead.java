package io.holdfast.s3server;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The lines before the body of a request or an answer, as they were sent. */
final class HttpHead {
  private final List<String> lines;

  HttpHead(List<String> lines) {
    this.lines = new ArrayList<>(lines);
  }

  /** Reads up to the empty line; null where the connection ends before the first byte. */
  static @Nullable HttpHead read(InputStream in) throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line = line(in); line == null || !line.isEmpty(); line = line(in)) {
      if (line == null) {
        if (lines.isEmpty()) {
          return null;
        }
        throw new EOFException("in the middle of a head");
      }
      lines.add(line);
    }
    return new HttpHead(lines);
  }

  static @Nullable String line(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int each = in.read(); each != '\n'; each = in.read()) {
      if (each < 0) {
        return null;
      }
      if (each != '\r') {
        bytes.write(each);
      }
    }
    return bytes.toString(StandardCharsets.ISO_8859_1);
  }

  String first() {
    return lines.get(0);
  }

  List<String> headers() {
    return List.copyOf(lines.subList(1, lines.size()));
  }

  String header(String name) {
    return new Request("", "", headers()).header(name);
  }

  void remove(String name) {
    lines.removeIf(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1));
  }

  void set(String name, String value) {
    remove(name);
    lines.add(name + ": " + value);
  }

  /** Returns the length of the body, or -1 where it is in chunks. */
  long length() {
    if (header("Transfer-Encoding").equalsIgnoreCase("chunked")) {
      return -1;
    }
    String length = header("Content-Length");
    return length.isEmpty() ? 0 : Long.parseLong(length);
  }

  byte[] bytes() {
    return (String.join("\r\n", lines) + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
  }
}
