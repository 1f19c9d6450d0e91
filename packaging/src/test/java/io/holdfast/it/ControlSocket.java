package io.holdfast.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The daemon's socket: one JSON object a line each way. Faster than starting the launcher for each
 * question.
 */
public final class ControlSocket {
  private static final Path FOLDER = Path.of("/run/holdfast");

  private ControlSocket() {}

  public static Path of(String name) {
    return FOLDER.resolve(name + ".sock");
  }

  /** The figures of a mount now. */
  public static Stats stats(String name) {
    return stats(of(name));
  }

  static Stats stats(Path socket) {
    return Stats.ofAnswer(ask(socket, "{\"command\":\"stats\"}"));
  }

  /** Tells whether a daemon listens there that gives its figures. */
  static boolean answers(Path socket) {
    try {
      stats(socket);
      return true;
    } catch (AssertionError e) {
      return false; // not yet, or not any more
    }
  }

  /** Waits until the store of a checkpoint mount has all that was saved by now. */
  static void awaitDurable(String name, Duration deadline) {
    long operation = lastOperation(name);
    Await.until(deadline, "all is in the store", () -> isDurable(name, operation));
  }

  /** Returns the last operation on a checkpoint mount. */
  static long lastOperation(String name) {
    return task(name, "\"last\":\"\"").number("task.sequence");
  }

  /** Tells whether the store of a checkpoint mount has all up to an operation. */
  static boolean isDurable(String name, long operation) {
    String request = "\"await\":%d,\"failures\":0".formatted(operation);
    return Boolean.TRUE.equals(task(name, request).at("task.durable"));
  }

  /** Begins a task, or asks for one. */
  static Stats task(String name, String request) {
    return Stats.parse(ask(name, "{\"command\":\"task\",%s}".formatted(request)));
  }

  /** Sends a line and gives the answer. */
  public static String ask(String name, String line) {
    return ask(of(name), line);
  }

  private static String ask(Path socket, String line) {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      channel.write(ByteBuffer.wrap((line + "\n").getBytes(UTF_8)));
      ByteArrayOutputStream answer = new ByteArrayOutputStream();
      ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
      while (channel.read(buffer) >= 0) {
        answer.write(buffer.array(), 0, buffer.position());
        buffer.clear();
        if (answer.toString(UTF_8).endsWith("\n")) {
          break;
        }
      }
      return answer.toString(UTF_8);
    } catch (IOException e) {
      throw new AssertionError("no answer of " + socket + " to " + line, e);
    }
  }
}
