package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Policies;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * A residency that pins and drops on an ordinary directory of a real filesystem, which the calls
 * cannot tell from the own mount.
 */
abstract class ResidencyFixture {
  static final int PAGE = Linux.PAGE_SIZE;
  static final Duration AGE = Duration.ofSeconds(2);

  final FakeClock clock = new FakeClock();
  Sandbox sandbox;
  final IsolatedThreads.Failures failures = new IsolatedThreads.Failures();
  IsolatedThreads pinners;
  IsolatedThreads droppers;
  Residency residency;
  long lockedBefore;
  long nodes;

  @BeforeEach
  void create() throws IOException {
    sandbox = Sandbox.create();
    pinners = IsolatedThreads.start("test-pin", 2, 0, failures);
    droppers = IsolatedThreads.start("test-drop", 1, 0, new IsolatedThreads.Failures());
    lockedBefore = ProcessStatus.lockedBytes();
  }

  @AfterEach
  void close() throws IOException {
    if (residency != null) {
      residency.close();
      Await.until("all is unmapped", () -> mappings() == 0);
    }
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
    pinners.close();
    droppers.close();
    sandbox.close();
  }

  long mappings() {
    try {
      return ProcessStatus.mappings(sandbox.root());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  Selection selection = Selection.NONE;
  ResidentLog log = ResidentLog.NONE;
  PageStore pages = PageStore.NONE;

  /** The threads that have used the mount. */
  final Set<String> users = ConcurrentHashMap.newKeySet();

  /** The node that each file shows; 0 as if the mount told none. */
  volatile long shownNode;

  CachePolicy start(String policy, long capacity, boolean hard, long mappings) {
    CachePolicy created = prepare(policy, capacity, hard, mappings);
    residency.mounted();
    return created;
  }

  /** Creates a residency whose mount is not there yet. */
  CachePolicy prepare(String policy, long capacity, boolean hard, long mappings) {
    CachePolicy created = Policies.create(policy, capacity, 1);
    residency =
        new Residency(
            new Residency.Rules(created, selection, log),
            new Residency.MountUse(this::openRoot, pages, hard, mappings, fd -> shownNode),
            new Residency.Threads(pinners, droppers),
            new Residency.WindowSize(64 << 20, AGE),
            clock);
    return created;
  }

  private int openRoot() {
    users.add(Thread.currentThread().getName());
    return Linux.openDirectory(sandbox.root());
  }

  CachePolicy start(long capacity) {
    return start("minio", capacity, true, 1000);
  }

  /** Writes a file that has no pages in memory. */
  Path file(String name, byte[] content) throws IOException {
    Path path = sandbox.path(name);
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    // written at once it may be one folio, whose pages go and stay together
    try (MappedFile written = new MappedFile(path)) {
      written.drop();
    }
    return path;
  }

  /** Opens a file as an application does; the kernel tells which of its pages are in memory. */
  static MappedFile application(Path path) throws IOException {
    MappedFile application = new MappedFile(path);
    assumeTrue(application.cachedPages() >= 0, "a kernel that counts cached pages");
    return application;
  }

  static byte[] random(int length) {
    byte[] content = new byte[length];
    new Random(length).nextBytes(content);
    return content;
  }

  Item item(String name, int length) {
    return item(name, ++nodes, 0, 0, length);
  }

  Item item(String name, long node, long extent, long offset, int length) {
    Version version = version(name, node, length);
    return new Item(new ItemKey(node, extent), () -> OriginPath.of(name), version, offset, length);
  }

  /** Returns the version of the file, if there is one. */
  Version version(String name, long node, int length) {
    Path path = sandbox.path(name);
    try {
      long modified = Files.getLastModifiedTime(path).to(TimeUnit.NANOSECONDS);
      FileTime changed = (FileTime) Files.getAttribute(path, "unix:ctime");
      long inode = (long) Files.getAttribute(path, "unix:ino");
      long changedNanos = changed.to(TimeUnit.NANOSECONDS);
      return new Version(Files.size(path), modified, changedNanos, inode, 0, "");
    } catch (IOException e) {
      return new Version(length, 1, node, "");
    }
  }

  static class Offered implements Fetched {
    private final Item item;
    private final boolean elsewhere;
    final CountDownLatch done = new CountDownLatch(1);
    final AtomicInteger calls = new AtomicInteger();
    volatile boolean givesWay;
    volatile boolean outdated;
    volatile boolean predicted;

    Offered(Item item, boolean elsewhere) {
      this.item = item;
      this.elsewhere = elsewhere;
    }

    @Override
    public Item item() {
      return item;
    }

    @Override
    public long hold() {
      return 0;
    }

    @Override
    public void release() {}

    @Override
    public int firstUndelivered() {
      return 0;
    }

    @Override
    public int readsFromElsewhere() {
      return elsewhere ? 1 : 0;
    }

    @Override
    public boolean isPredicted() {
      return predicted;
    }

    @Override
    public boolean isOutdated() {
      return outdated;
    }

    @Override
    public void giveWay() {
      givesWay = true;
    }

    @Override
    public void passedOn() {
      done();
    }

    @Override
    public void done() {
      calls.incrementAndGet();
      done.countDown();
    }
  }

  Offered pin(Item item) {
    Offered offered = new Offered(item, false);
    assertThat(residency.offer(offered)).isTrue();
    Await.latch(offered.done);
    assertThat(offered.calls).hasValue(1);
    return offered;
  }
}
