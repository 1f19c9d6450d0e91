package io.holdfast.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A program that stands between a node and those who ask it, and tells lies: {@code Liar PORT HOST
 * NODE_PORT ONE_OF SEED LIE...}. Questions pass as they are; so do answers, but for one of so many
 * that carry an item: one of the lies is told in its place. Prints {@code ready}. Ends with its
 * input, and prints how many lies it has told.
 */
final class Liar {
  private static final int BUFFER = 64 << 10;

  /** Longer than a node waits for another one's first byte. */
  private static final long LATE_MILLIS = 3000;

  private static final String END_OF_HEAD = "\r\n\r\n";
  private static final String HEAD_OF_ITEM = "content-digest: ";
  private static final String VERSION = "etag: \"";

  private final InetSocketAddress node;
  private final int oneOf;
  private final Random random;
  private final Lie[] lies;
  private final AtomicInteger told = new AtomicInteger();

  /** The change of an answer. */
  enum Lie {
    /** One bit of the body is another. */
    BIT,
    /** The head tells another version. */
    VERSION,
    /** The connection ends in the body, in order. */
    SHORT,
    /** The connection is reset in the body. */
    RESET,
    /** The right answer, when nobody waits for it any longer. */
    LATE
  }

  private Liar(InetSocketAddress node, int oneOf, Random random, Lie... lies) {
    this.node = node;
    this.oneOf = oneOf;
    this.random = random;
    this.lies = lies;
  }

  public static void main(String[] arguments) throws IOException {
    Lie[] lies = new Lie[arguments.length - 5];
    for (int i = 0; i < lies.length; i++) {
      lies[i] = Lie.valueOf(arguments[5 + i]);
    }
    Liar liar =
        new Liar(
            new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2])),
            Integer.parseInt(arguments[3]),
            new Random(Long.parseLong(arguments[4])),
            lies);
    ServerSocket listener = new ServerSocket(Integer.parseInt(arguments[0]));
    daemon(() -> liar.accept(listener));
    System.out.println("ready");
    while (System.in.read() >= 0) {
      // nothing is said to it
    }
    System.out.println(liar.told.get());
    System.exit(0);
  }

  private static void daemon(Runnable runnable) {
    Thread thread = new Thread(runnable, "liar");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept(ServerSocket listener) {
    while (true) {
      try {
        join(listener.accept());
      } catch (IOException e) {
        // nobody is behind it now; the next one may have more luck
      }
    }
  }

  private void join(Socket asker) throws IOException {
    Socket asked = new Socket();
    try {
      asked.connect(node);
      asked.setTcpNoDelay(true);
      asker.setTcpNoDelay(true);
    } catch (IOException e) {
      asker.close();
      asked.close();
      throw e;
    }
    daemon(() -> pass(asker, asked, false));
    daemon(() -> pass(asked, asker, true));
  }

  private void pass(Socket from, Socket to, boolean answers) {
    byte[] bytes = new byte[BUFFER];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
        int passed = answers ? lie(bytes, length, to) : length;
        out.write(bytes, 0, passed);
        if (passed < length) {
          return;
        }
      }
    } catch (IOException e) {
      // one side is gone, so the other goes too
    }
  }

  /** Tells a lie or does not, and returns how many of the bytes pass before the connection ends. */
  private int lie(byte[] bytes, int length, Socket to) throws IOException {
    String text = new String(bytes, 0, length, ISO_8859_1).toLowerCase(Locale.ROOT);
    int head = text.indexOf(HEAD_OF_ITEM);
    int body = head < 0 ? -1 : text.indexOf(END_OF_HEAD, head) + END_OF_HEAD.length();
    if (body < END_OF_HEAD.length() || body >= length || !isTurn()) {
      return length;
    }
    told.incrementAndGet();
    return switch (lies[any(lies.length)]) {
      case BIT -> {
        bytes[body + any(length - body)] ^= (byte) (1 << any(Byte.SIZE));
        yield length;
      }
      case VERSION -> {
        bytes[text.indexOf(VERSION) + VERSION.length()] ^= 1;
        yield length;
      }
      case SHORT -> body + any(length - body);
      case RESET -> {
        to.setSoLinger(true, 0);
        yield body + any(length - body);
      }
      case LATE -> {
        hold();
        yield length;
      }
    };
  }

  private boolean isTurn() {
    return any(oneOf) == 0;
  }

  private int any(int bound) {
    synchronized (random) {
      return random.nextInt(bound);
    }
  }

  private static void hold() throws IOException {
    try {
      Thread.sleep(LATE_MILLIS);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
