package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.fetch;
import static io.holdfast.peer.transfer.Nodes.whole;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import io.holdfast.peer.transfer.Nodes.TestNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sends a node the bytes of a port scanner, or of somebody worse, while it serves all the time. */
final class FuzzTest {
  private static final int LENGTH = 100_000;
  private static final long MOST_MEMORY = 64L << 20;
  private static final String[] SCRAPS = {
    "GET ",
    "/v1/hello",
    "/v1/datasets/imagenet/items/",
    " HTTP/1.1\r\n",
    "\r\n\r\n",
    "HTTP/9.9\r\n",
    "Holdfast-Nonce: ",
    "Authorization: Holdfast seq=\"1\", mac=\"",
    "Content-Length: 99999999999\r\n",
    "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
    "If-Match: \"\r\n",
    "Range: bytes=",
    "%00",
    "\u0000",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\u0016\u0003\u0001\u0002",
    ": ",
    "\t",
    "\r\n \r\n",
  };

  private final Nodes nodes = new Nodes();
  private final List<Socket> sockets = new ArrayList<>();
  private TestNode owner;
  private TestNode asker;
  private ByteBuf memory;
  private byte[] sent;
  private long memoryBefore;
  private long mostMemory;

  @BeforeEach
  void start() {
    owner = nodes.start("127.0.0.2");
    asker = nodes.start("127.0.0.3");
    sent = owner.put("a", LENGTH);
    memory = nodes.memory(LENGTH);
    memoryBefore = directMemory();
    assertServes();
  }

  @AfterEach
  void close() throws IOException {
    try {
      for (Socket each : sockets) {
        each.close();
      }
    } finally {
      nodes.close();
    }
  }

  private static long directMemory() {
    return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT).metric().usedDirectMemory();
  }

  /** Checks that the node serves a known connection, and a new one. */
  private void assertServes() {
    assertThat(fetch(asker, owner.address(), whole("a", LENGTH), memory))
        .isEqualTo(TransferResult.FETCHED);
    assertThat(Nodes.bytes(memory, LENGTH)).isEqualTo(sent);
    asker.transfer().peers(Set.of());
    mostMemory = Math.max(mostMemory, directMemory() - memoryBefore);
    assertThat(mostMemory).as("bytes of direct memory").isLessThan(MOST_MEMORY);
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(owner.address().host(), owner.address().port());
    sockets.add(socket);
    return socket;
  }

  /** Sends as much of this as the node takes. */
  private static boolean send(Socket socket, byte[] bytes) throws IOException {
    try {
      socket.getOutputStream().write(bytes);
      return true;
    } catch (SocketException e) {
      // the node has closed it
      return false;
    }
  }

  @Test
  void serve_randomBytes_goesOnServing() throws IOException {
    long seed = System.nanoTime();
    System.out.println("FuzzTest seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      byte[] bytes = new byte[random.nextInt(2000)];
      random.nextBytes(bytes);
      send(connect(), bytes);
      if (i % 100 == 0) {
        assertServes();
      }
    }
    assertServes();
  }

  @Test
  void serve_scrapsOfHttp_goesOnServing() throws IOException {
    long seed = System.nanoTime();
    System.out.println("FuzzTest seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      StringBuilder text = new StringBuilder();
      for (int scraps = random.nextInt(12); scraps >= 0; scraps--) {
        text.append(SCRAPS[random.nextInt(SCRAPS.length)]);
      }
      send(connect(), text.toString().getBytes(StandardCharsets.ISO_8859_1));
      if (i % 100 == 0) {
        assertServes();
      }
    }
    assertServes();
    assertThat(owner.shelf().askers).allMatch(asker.address()::equals);
  }

  @Test
  void serve_endlessHeader_cutOffSoon() throws IOException {
    byte[] some = "x".repeat(1 << 16).getBytes(StandardCharsets.US_ASCII);
    String[] starts = {"", "GET /", "GET /healthz HTTP/1.1\r\n", "GET /healthz HTTP/1.1\r\nA: "};
    for (String start : starts) {
      Socket socket = connect();
      send(socket, start.getBytes(StandardCharsets.US_ASCII));
      long taken = 0;
      while (taken < 1L << 30 && send(socket, some)) {
        taken += some.length;
      }
      // what the kernel buffers on both sides is some megabytes
      assertThat(taken).as("bytes taken of '%s...'", start).isLessThan(64L << 20);
      assertServes();
    }
  }

  @Test
  void serve_answersLeftLying_memoryBounded() throws IOException {
    byte[] many = "GET /healthz HTTP/1.1\r\n\r\n".repeat(3000).getBytes(StandardCharsets.US_ASCII);
    Socket socket = connect();
    long taken = 0;
    long most = 0;
    while (taken < 1L << 30 && send(socket, many)) {
      taken += many.length;
      most = Math.max(most, directMemory() - memoryBefore);
    }
    // more than what the kernel buffers on both sides would pile up as answers in the node
    assertThat(most).as("bytes of direct memory").isLessThan(MOST_MEMORY);
    assertServes();
  }

  @Test
  void serve_slowHeaders_goesOnServingAndEndsThem() throws IOException {
    byte[] line = "A: b\r\n".getBytes(StandardCharsets.US_ASCII);
    List<Socket> slow = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      slow.add(connect());
      send(slow.get(i), "GET /healthz HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII));
    }
    Eventually.holds(
        "all of them are closed",
        () -> {
          assertServes();
          slow.removeIf(each -> !sends(each, line));
          return slow.isEmpty();
        });
  }

  private static boolean sends(Socket socket, byte[] bytes) {
    try {
      return send(socket, bytes);
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void serve_thousandsOfIdleConnections_goesOnServing() throws IOException {
    UnixOperatingSystemMXBean system =
        (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long free = system.getMaxFileDescriptorCount() - system.getOpenFileDescriptorCount();
    int count = (int) Math.min(10_000, free / 2);
    System.out.println("FuzzTest holds " + count + " idle connections");
    for (int i = 0; i < count; i++) {
      connect();
      if (i % 500 == 0) {
        assertServes();
      }
    }
    assertServes();
    assertThat(owner.transfer().refusals().get("too_many")).isGreaterThan(count / 2);
    System.out.println("FuzzTest used at most " + mostMemory + " bytes of direct memory");
  }
}
