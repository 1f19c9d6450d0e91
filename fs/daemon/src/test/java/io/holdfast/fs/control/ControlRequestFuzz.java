package io.holdfast.fs.control;

import java.io.ByteArrayInputStream;
import java.io.IOException;

/** A line on the control socket that says anything. Run by packaging/fuzz. */
public final class ControlRequestFuzz {
  private ControlRequestFuzz() {}

  /** One input. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    try {
      byte[] line = Protocol.readLine(new ByteArrayInputStream(bytes), Protocol.LARGEST_REQUEST);
      if (line != null) {
        Protocol.encode(Protocol.decode(line));
      }
    } catch (IOException e) {
      // what the server answers with
    }
  }
}
