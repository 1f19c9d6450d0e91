package io.holdfast.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.peer.ClusterSecret;
import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.transfer.Asker;
import io.holdfast.peer.transfer.ItemPath;
import io.holdfast.peer.transfer.ItemProvider;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.OwnText;
import io.holdfast.peer.transfer.Refusal;
import io.holdfast.peer.transfer.Sketches;
import io.holdfast.peer.transfer.Transfer;
import io.holdfast.peer.transfer.TransferResult;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * Gets the same files from a Holdfast node and from a web server in turn, as many at a time from
 * each, on connections that are kept. From the node it gets them as a peer does, with proofs and
 * checksums, into memory; from the web server with plain reads of the socket.
 */
final class ServingClient {
  private static final Duration ROUND = Duration.ofSeconds(3);
  private static final int ROUNDS = 5;
  private static final int LARGEST_ITEM = 8 << 20;
  private static final int HEAD = 4096;

  private record Target(Path name, long size, String tag) {}

  /** The result of a round: MB a second, and CPU seconds of the server a GB. */
  private record Figures(double rate, double cpu) {}

  private final List<Target> targets = new ArrayList<>();
  private final NodeAddress node;
  private final InetSocketAddress web;
  private final Transfer transfer;
  private final SharedDataset dataset;

  /** The node's, which this client tells it back: both have the same dataset. */
  private final Sketches sketches;

  private ServingClient(String[] arguments) throws Exception {
    node = NodeAddress.parse(arguments[0]);
    web = NodeAddress.parse(arguments[2]).resolve();
    dataset = new SharedDataset(arguments[4], LARGEST_ITEM);
    Credentials credentials = new Credentials(ClusterSecret.read(Path.of(arguments[3])), null);
    CompletableFuture<String> told = new CompletableFuture<>();
    transfer =
        Transfer.start(
            new Transfer.Config(
                NodeAddress.parse(arguments[1]),
                dataset,
                credentials,
                Transfer.Deadlines.DEFAULT,
                Transfer.Limits.DEFAULT),
            new Nothing(told));
    told.complete(transfer.sketch(node).get(10, TimeUnit.SECONDS).text());
    String mark = mark(told.join());
    sketches = new Sketches(mark, mark);
    Path root = Path.of(arguments[5]);
    try (Stream<Path> files = Files.list(root)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        long size = Files.size(file);
        long modified = Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS);
        FileTime changed = (FileTime) Files.getAttribute(file, "unix:ctime");
        String tag = "%x-%x.%x".formatted(size, modified, changed.to(TimeUnit.NANOSECONDS));
        targets.add(new Target(root.relativize(file), size, tag));
      }
    }
  }

  private static String mark(String sketch) throws NoSuchAlgorithmException {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(sketch.getBytes(US_ASCII));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
  }

  /**
   * Runs.
   *
   * @param arguments the node's address, this client's own, the web server's, the secret's file,
   *     the dataset's id, the directory with the files, the node's process, and those of the web
   *     server, separated by commas
   */
  public static void main(String[] arguments) throws Exception {
    ServingClient client = new ServingClient(arguments);
    try (client.transfer) {
      for (int concurrency : new int[] {1, 8}) {
        client.compare(concurrency, arguments[6].split(","), arguments[7].split(","));
      }
    }
  }

  private void compare(int concurrency, String[] ours, String[] theirs) throws Exception {
    List<Figures> node = new ArrayList<>();
    List<Figures> web = new ArrayList<>();
    for (int round = 0; round <= ROUNDS; round++) {
      Figures one = measure(ours, () -> fromNode(concurrency));
      Figures other = measure(theirs, () -> fromWeb(concurrency));
      if (round > 0) { // the first one warms up
        node.add(one);
        web.add(other);
      }
    }
    double[] ratios = new double[ROUNDS];
    Arrays.setAll(ratios, i -> node.get(i).rate / web.get(i).rate);
    System.out.printf(
        Locale.ROOT,
        "%d at a time: %.0f MB/s, web server %.0f MB/s, ratio %.2f; CPU %.2f and %.2f s a GB%n",
        concurrency,
        median(node.stream().mapToDouble(Figures::rate).toArray()),
        median(web.stream().mapToDouble(Figures::rate).toArray()),
        median(ratios),
        median(node.stream().mapToDouble(Figures::cpu).toArray()),
        median(web.stream().mapToDouble(Figures::cpu).toArray()));
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  @FunctionalInterface
  private interface Round {
    long bytes() throws Exception;
  }

  private static Figures measure(String[] processes, Round round) throws Exception {
    double before = cpuSeconds(processes);
    long start = System.nanoTime();
    long bytes = round.bytes();
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Figures(
        bytes / 1e6 / seconds, (cpuSeconds(processes) - before) / ((double) bytes / 1e9));
  }

  private static double cpuSeconds(String[] processes) throws IOException {
    long ticks = 0;
    for (String process : processes) {
      String stat = Files.readString(Path.of("/proc", process, "stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      ticks += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }
    return ticks / 100.0;
  }

  private long fromNode(int concurrency) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    List<Lane> lanes = new ArrayList<>();
    long end = System.nanoTime() + ROUND.toNanos();
    for (int i = 0; i < concurrency; i++) {
      lanes.add(new Lane(next, end));
    }
    lanes.forEach(Lane::goOn);
    long bytes = 0;
    for (Lane lane : lanes) {
      bytes += lane.await();
    }
    return bytes;
  }

  /** One item after the other, into memory of its own. */
  private final class Lane {
    private final ByteBuffer memory = ByteBuffer.allocateDirect(LARGEST_ITEM);
    private final long address = Pointer.wrap(Runtime.getSystemRuntime(), memory).address();
    private final AtomicInteger next;
    private final long end;
    private final CountDownLatch done = new CountDownLatch(1);
    private final AtomicLong bytes = new AtomicLong();
    private volatile TransferResult last = TransferResult.FETCHED;

    Lane(AtomicInteger next, long end) {
      this.next = next;
      this.end = end;
    }

    void goOn() {
      if (System.nanoTime() >= end || !last.isFetched()) {
        done.countDown();
        return;
      }
      Target target = targets.get(next.getAndIncrement() % targets.size());
      transfer.fetch(
          node,
          sketches,
          request(target),
          address,
          outcome -> {
            last = outcome;
            bytes.addAndGet(target.size);
            goOn();
          });
    }

    long await() throws InterruptedException {
      try {
        done.await();
      } finally {
        Reference.reachabilityFence(memory);
      }
      if (!last.isFetched()) {
        throw new IllegalStateException(last.toString());
      }
      return bytes.get();
    }
  }

  private ItemRequest request(Target target) {
    ItemPath path = ItemPath.of(target.name.toString().getBytes(UTF_8));
    int size = (int) target.size;
    return new ItemRequest(dataset, path, 0, target.tag, size, 0, size, false);
  }

  private long fromWeb(int concurrency) throws InterruptedException {
    AtomicLong bytes = new AtomicLong();
    AtomicInteger next = new AtomicInteger();
    AtomicReference<Exception> wrong = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < concurrency; i++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  bytes.addAndGet(readFromWeb(next));
                } catch (IOException | RuntimeException e) {
                  wrong.set(e);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (wrong.get() != null) {
      throw new IllegalStateException(wrong.get());
    }
    return bytes.get();
  }

  private long readFromWeb(AtomicInteger next) throws IOException {
    ByteBuffer memory = ByteBuffer.allocateDirect(LARGEST_ITEM + HEAD);
    long bytes = 0;
    long end = System.nanoTime() + ROUND.toNanos();
    try (SocketChannel connection = SocketChannel.open(web)) {
      while (System.nanoTime() < end) {
        Target target = targets.get(next.getAndIncrement() % targets.size());
        String request = "GET /" + target.name + " HTTP/1.1\r\nHost: bench\r\n\r\n";
        connection.write(ByteBuffer.wrap(request.getBytes(US_ASCII)));
        memory.clear();
        int head = -1;
        while (head < 0 || memory.position() < head + target.size) {
          if (connection.read(memory) < 0) {
            throw new IOException("the web server hung up");
          }
          head = head < 0 ? endOfHead(memory) : head;
        }
        bytes += target.size;
      }
    }
    return bytes;
  }

  private static int endOfHead(ByteBuffer memory) throws IOException {
    byte[] head = new byte[Math.min(memory.position(), HEAD)];
    memory.duplicate().flip().get(head);
    String text = new String(head, US_ASCII);
    if (!text.startsWith("HTTP/1.1 200 ")) {
      throw new IOException("the web server says: " + text.lines().findFirst().orElse(""));
    }
    int end = text.indexOf("\r\n\r\n");
    return end < 0 ? -1 : end + 4;
  }

  /** Has nothing to give. */
  private static final class Nothing implements ItemProvider {
    private final CompletableFuture<String> sketch;

    Nothing(CompletableFuture<String> sketch) {
      this.sketch = sketch;
    }

    @Override
    public void get(ItemRequest request, Asker from, Answer answer) {
      answer.refused(Refusal.NOT_CACHED);
    }

    @Override
    public CompletableFuture<String> sketch(NodeAddress peer) {
      return sketch;
    }

    @Override
    public OwnText plan(NodeAddress peer) {
      return new OwnText("");
    }

    @Override
    public void held(ItemRequest request, Asker by) {}

    @Override
    public long residentBytes() {
      return 0;
    }
  }
}
