package io.holdfast.fs.control;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.commons.io.input.BoundedInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The lines of the control socket: one JSON object a line, UTF-8, each way.
 *
 * <pre>
 * {"command":"stats"}                  {"ok":true,"stats":{...}}
 * {"command":"config"}                 {"ok":true,"config":[{...},...]}
 * {"command":"peers"}                  {"ok":true,"peers":[{...},...]}
 * {"command":"refresh","path":"a/b"}   {"ok":true,"refreshed":12}
 * {"command":"task",...}               {"ok":true,"task":{...}}
 * {"command":"order",...}              {"ok":true,"order":{...}}
 * {"command":"allocation",...}         {"ok":true,"allocation":{...}}
 * {"command":"stop"}                   {"ok":true}
 * {"command":"restart"}                {"ok":true}
 * anything else, or a failure          {"ok":false,"error":"one line"}
 * </pre>
 */
final class Protocol {
  static final String COMMAND = "command";
  static final String PATH = "path";
  static final String OK = "ok";
  static final String ERROR = "error";
  static final String STATS = "stats";
  static final String CONFIG = "config";
  static final String PEERS = "peers";
  static final String REFRESH = "refresh";
  static final String REFRESHED = "refreshed";
  static final String TASK = "task";
  static final String ORDER = "order";
  static final String ALLOCATION = "allocation";
  static final String STOP = "stop";
  static final String RESTART = "restart";

  /** The action after the answer; removed before the answer is sent. */
  static final String THEN = "then";

  /** Longest request in bytes: the longest path, each byte escaped. */
  static final int LARGEST_REQUEST = 64 * 1024;

  /** Longest answer in bytes: figures of some ten thousand processes. */
  static final int LARGEST_ANSWER = 16 * 1024 * 1024;

  private Protocol() {}

  /**
   * Reads a line, without its end.
   *
   * @return null at the end of the stream; an unfinished line is lost
   * @throws FsException when the line is longer than allowed
   */
  static byte @Nullable [] readLine(InputStream in, int largest) throws IOException {
    BoundedInputStream bounded =
        BoundedInputStream.builder()
            .setInputStream(in)
            .setMaxCount(largest + 1L)
            .setPropagateClose(false)
            .get();
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = bounded.read(); b >= 0; b = bounded.read()) {
      if (b == '\n') {
        return line.toByteArray();
      }
      line.write(b);
    }
    if (line.size() > largest) {
      throw new FsException(FsError.RANGE, "a line is longer than " + largest + " bytes");
    }
    return null;
  }

  /** Writes an object as a line of bytes. */
  static byte[] encode(Map<String, Object> object) throws IOException {
    return (JSON.std.asString(object) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /** Reads an object from the bytes of a line. */
  static Map<String, Object> decode(byte[] line) throws IOException {
    return JSON.std.mapFrom(line);
  }
}
