package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.RecordingReply;
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
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Pins and drops on an ordinary directory of a real filesystem, which the calls cannot tell from
 * the own mount.
 */
final class ResidencyTest {
  private static final int PAGE = Linux.PAGE_SIZE;
  private static final Duration AGE = Duration.ofSeconds(2);

  private final FakeClock clock = new FakeClock();
  private Sandbox sandbox;
  private IsolatedThreads pinners;
  private IsolatedThreads droppers;
  private Residency residency;
  private long lockedBefore;
  private long nodes;

  @BeforeEach
  void create() throws IOException {
    sandbox = Sandbox.create();
    pinners = IsolatedThreads.start("test-pin", 2, 0);
    droppers = IsolatedThreads.start("test-drop", 1, 0);
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

  private long mappings() {
    try {
      return ProcessStatus.mappings(sandbox.root());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Selection selection = Selection.NONE;

  private CachePolicy start(String policy, long capacity, boolean hard, long mappings) {
    CachePolicy created = Policies.create(policy, capacity, 1);
    residency =
        new Residency(
            new Residency.Rules(created, selection, ResidentLog.NONE),
            sandbox.root(),
            new Residency.Threads(pinners, droppers),
            hard,
            mappings,
            new Residency.WindowSize(64 << 20, AGE),
            clock);
    return created;
  }

  private CachePolicy start(long capacity) {
    return start("minio", capacity, true, 1000);
  }

  /** Writes a file that has no pages in memory. */
  private Path file(String name, byte[] content) throws IOException {
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

  private static byte[] random(int length) {
    byte[] content = new byte[length];
    new Random(length).nextBytes(content);
    return content;
  }

  private Item item(String name, int length) {
    return item(name, ++nodes, 0, 0, length);
  }

  private Item item(String name, long node, long extent, long offset, int length) {
    Version version = version(name, node, length);
    return new Item(Item.id(node, extent), () -> OriginPath.of(name), version, offset, length);
  }

  /** That of the file, if there is one. */
  private Version version(String name, long node, int length) {
    Path path = sandbox.path(name);
    try {
      long modified = Files.getLastModifiedTime(path).to(TimeUnit.NANOSECONDS);
      return new Version(Files.size(path), modified, node, "");
    } catch (IOException e) {
      return new Version(length, 1, node, "");
    }
  }

  private static final class Offered implements Fetched {
    private final Item item;
    private final boolean elsewhere;
    final CountDownLatch done = new CountDownLatch(1);
    final AtomicInteger calls = new AtomicInteger();
    boolean outdated;

    Offered(Item item, boolean elsewhere) {
      this.item = item;
      this.elsewhere = elsewhere;
    }

    @Override
    public Item item() {
      return item;
    }

    @Override
    public int readsFromElsewhere() {
      return elsewhere ? 1 : 0;
    }

    @Override
    public boolean isOutdated() {
      return outdated;
    }

    @Override
    public void done() {
      calls.incrementAndGet();
      done.countDown();
    }
  }

  private Offered pin(Item item) {
    Offered offered = new Offered(item, false);
    assertThat(residency.offer(offered)).isTrue();
    Await.latch(offered.done);
    assertThat(offered.calls).hasValue(1);
    return offered;
  }

  // pinning

  @Test
  void offer_thatIsAdmitted_locksEveryPage() throws IOException {
    start(1 << 20);
    file("f", random(3 * PAGE + 17));
    Item item = item("f", 3 * PAGE + 17);
    pin(item);
    long node = Item.node(item.id());
    assertThat(ProcessStatus.lockedBytes() - lockedBefore).isEqualTo(4L * PAGE);
    assertThat(residency.pinnedItems(node, 1)).isEqualTo(1);
    assertThat(residency.pinnedBytes(node, 1)).isEqualTo(3 * PAGE + 17);
    assertThat(residency.residentNodes()).containsExactly(node);
    Residency.Figures figures = residency.figures();
    assertThat(figures.residentBytes()).as("in whole pages").isEqualTo(4L * PAGE);
    assertThat(figures.residentItems()).isEqualTo(1);
    assertThat(figures.admittedItems()).isEqualTo(1);
    assertThat(figures.refusedItems()).isZero();
    assertThat(figures.pinFailures()).isZero();
    assertThat(figures.capacityBytes()).isEqualTo(1 << 20);
    assertThat(figures.windowBytes()).as("residents do not linger").isZero();
  }

  @Test
  void pinnedFile_askedToBeDropped_stays() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    pin(item("f", 5 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      assumeTrue(application.cachedPages() >= 0, "a kernel that counts cached pages");
      application.drop();
      assertThat(application.cachedPages()).isEqualTo(5);
    }
  }

  @Test
  void offer_readFromElsewhere_isPinnedWithItsPagesReadInAnew() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      application.read();
      Offered offered = new Offered(item("f", 5 * PAGE), true);
      assertThat(residency.offer(offered)).isTrue();
      Await.latch(offered.done);
      assertThat(application.cachedPages()).isIn(5L, -1L);
      assertThat(ProcessStatus.lockedBytes() - lockedBefore).isEqualTo(5L * PAGE);
    }
  }

  @Test
  void offer_extentsOfALargeFile_arePinnedByRange() throws IOException {
    start(1 << 20);
    file("f", random(8 * PAGE));
    pin(item("f", 5, 1, 2L * PAGE, 2 * PAGE));
    pin(item("f", 5, 3, 6L * PAGE, 2 * PAGE));
    assertThat(ProcessStatus.lockedBytes() - lockedBefore).isEqualTo(4L * PAGE);
    assertThat(residency.pinnedItems(5, 4)).isEqualTo(2);
    assertThat(residency.pinnedBytes(5, 4)).isEqualTo(4L * PAGE);
    assertThat(residency.release(5, 4)).isEqualTo(4L * PAGE);
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
  }

  /** A file that is cut short loses pages that are locked as well. */
  @Test
  void serve_pagesOfAPinnedItemAreGone_letsGoOfItAndTouchesNone() throws IOException {
    start(1 << 20);
    Path path = file("f", random(4 * PAGE));
    Item item = item("f", 4 * PAGE);
    pin(item);
    try (RandomAccessFile cut = new RandomAccessFile(path.toFile(), "rw")) {
      cut.setLength(PAGE);
      cut.setLength(4L * PAGE);
    }

    assertThat(residency.serve(item, 0, PAGE, new RecordingReply())).isTrue();
    assertThat(residency.isPinned(item)).isTrue();
    assertThat(residency.serve(item, PAGE, PAGE, new RecordingReply())).isFalse();
    assertThat(residency.isResident(item)).isFalse();
    assertThat(mappings()).isZero();
    assertThat(residency.figures().residentBytes()).isZero();
  }

  @Test
  void bar_fileWithoutResidents_isNotAdmittedUntilItIsUnbarred() throws IOException {
    start(1 << 20);
    file("f", random(4 * PAGE));
    Item item = item("f", 7, 1, 2L * PAGE, 2 * PAGE);

    assertThat(residency.bar(7, 2)).isTrue();

    assertThat(residency.wouldAdmit(item)).isFalse();
    assertThat(residency.offer(new Offered(item, false))).isFalse();
    assertThat(residency.figures().residentBytes()).isZero();
    residency.unbar(7);
    assertThat(residency.wouldAdmit(item)).isTrue();
    pin(item);
  }

  @Test
  void bar_fileWithAResident_isRefusedAndBarsNothing() throws IOException {
    start(1 << 20);
    file("f", random(4 * PAGE));
    pin(item("f", 7, 0, 0, 2 * PAGE));

    assertThat(residency.bar(7, 2)).isFalse();

    pin(item("f", 7, 1, 2L * PAGE, 2 * PAGE));
  }

  /** Whichever comes first: never both. */
  @Test
  void bar_whileAnItemIsOffered_eitherIsRefused() throws Exception {
    start(1 << 20);
    file("f", random(PAGE));
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      for (int i = 0; i < 2000; i++) {
        Item item = item("f", PAGE);
        long node = Item.node(item.id());
        CyclicBarrier together = new CyclicBarrier(2);
        Offered offered = new Offered(item, false);
        Future<Boolean> barred =
            other.submit(
                () -> {
                  together.await();
                  return residency.bar(node, 1);
                });
        together.await();
        boolean admitted = residency.offer(offered);
        assertThat(admitted && barred.get()).as("both, in round %d", i).isFalse();
        residency.unbar(node);
        if (admitted) {
          Await.latch(offered.done);
          residency.release(node, 1);
        }
      }
    } finally {
      other.shutdownNow();
    }
  }

  @Test
  void offer_softPin_mapsAndLocksNothing() throws IOException {
    start("minio", 1 << 20, false, 1000);
    file("f", random(5 * PAGE));
    Item item = item("f", 5 * PAGE);
    pin(item);
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
    assertThat(mappings()).isEqualTo(1);
    assertThat(residency.serve(item, 0, 1, new RecordingReply())).isFalse();
    assertThat(residency.isHard()).isFalse();
  }

  @Test
  void release_pinnedFile_unmapsAndFreesTheCapacity() throws IOException {
    CachePolicy policy = start(4L * PAGE);
    file("f", random(4 * PAGE));
    file("g", random(4 * PAGE));
    Item first = item("f", 4 * PAGE);
    Item second = item("g", 4 * PAGE);
    pin(first);
    assertThat(residency.wouldAdmit(second)).isFalse();
    assertThat(residency.offer(new Offered(second, false))).isFalse();
    assertThat(residency.release(Item.node(first.id()), 1)).isEqualTo(4L * PAGE);
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
    assertThat(mappings()).isZero();
    assertThat(residency.figures().residentBytes()).isZero();
    assertThat(residency.wouldAdmit(second)).isTrue();
    pin(second);
    assertThat(residency.figures().refusedItems()).isEqualTo(1);
    policy.check();
  }

  /**
   * An item that had to make way in the moment between its admission and its pin was pinned all the
   * same, beyond the capacity and for ever.
   */
  @Test
  void offers_thatMakeOthersGiveWay_pinNoMoreThanTheCapacity() throws Exception {
    int capacity = 4;
    CachePolicy policy = start("random", (long) capacity * PAGE, true, 1000);
    List<Offered> offers = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      file("f" + i, random(PAGE));
      offers.add(new Offered(item("f" + i, PAGE), false));
    }
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      int first = t;
      Thread thread =
          new Thread(
              () -> {
                for (int i = first; i < offers.size(); i += 4) {
                  residency.offer(offers.get(i));
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    Await.until("the pins are made and undone", () -> mappings() == capacity);
    assertThat(policy.residentItems()).isEqualTo(capacity);
    for (Offered offer : offers) {
      boolean resident = policy.contains(offer.item().id());
      assertThat(residency.pinnedItems(Item.node(offer.item().id()), 1))
          .isEqualTo(resident ? 1 : 0);
    }
  }

  // the user's word

  @Test
  void offer_keptFile_isPinnedWhateverIsResident() throws IOException {
    selection = Selection.of(List.of("val/"), List.of());
    CachePolicy policy = start(4L * PAGE);
    Files.createDirectory(sandbox.path("val"));
    file("f", random(4 * PAGE));
    file("val/g", random(PAGE));
    Item ordinary = item("f", 4 * PAGE);
    Item kept = item("val/g", PAGE);
    pin(ordinary);
    assertThat(residency.wouldAdmit(kept)).isTrue();
    pin(kept);
    assertThat(policy.contains(kept.id())).isTrue();
    assertThat(policy.contains(ordinary.id())).isFalse();
    assertThat(residency.figures().evictedItems()).isEqualTo(1);
    assertThat(residency.figures().residentBytes()).isEqualTo(PAGE);
  }

  @Test
  void offer_excludedFile_isRefused() throws IOException {
    selection = Selection.of(List.of(), List.of("*.idx"));
    start(4L * PAGE);
    file("a.idx", random(PAGE));
    Item excluded = item("a.idx", PAGE);
    assertThat(residency.wouldAdmit(excluded)).isFalse();
    assertThat(residency.offer(new Offered(excluded, false))).isFalse();
    assertThat(residency.figures().refusedItems()).isEqualTo(1);
    assertThat(residency.figures().residentItems()).isZero();
  }

  /**
   * What does not fit the share that the dataset's size allows is refused, though there is room.
   */
  @Test
  void datasetSize_policyByHash_selectsAShare() throws IOException {
    start("minio-hash", 10L * PAGE, true, 1000);
    residency.datasetSize(1000L * PAGE);
    long admitted = 0;
    for (int i = 0; i < 200; i++) {
      admitted += residency.wouldAdmit(item("f" + i, PAGE)) ? 1 : 0;
    }
    assertThat(admitted).isLessThan(20);
    residency.datasetSize(10L * PAGE);
    assertThat(residency.wouldAdmit(item("f", PAGE))).isTrue();
  }

  // the policy's word

  @Test
  void offer_policyNone_isRefused() throws IOException {
    start("none", 1 << 20, true, 1000);
    Item item = item("f", PAGE);
    assertThat(residency.wouldAdmit(item)).isFalse();
    assertThat(residency.offer(new Offered(item, false))).isFalse();
    assertThat(residency.figures().refusedItems()).isEqualTo(1);
    assertThat(residency.policyName()).isEqualTo("none");
  }

  @Test
  void offer_residentItem_isNotPinnedTwice() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    Item item = item("f", PAGE);
    pin(item);
    residency.offer(new Offered(item, false));
    assertThat(mappings()).isEqualTo(1);
    assertThat(residency.figures().residentItems()).isEqualTo(1);
  }

  @Test
  void offer_noMappingsLeft_isRefusedAndWouldBe() throws IOException {
    start("minio", 1 << 20, true, 2);
    for (String name : new String[] {"a", "b"}) {
      file(name, random(PAGE));
      pin(item(name, PAGE));
    }
    Item next = item("c", PAGE);
    assertThat(residency.offer(new Offered(next, false))).isFalse();
    // or a random reader of a large file would get a whole item for each small read
    assertThat(residency.wouldAdmit(next)).isFalse();
  }

  @Test
  void offer_afterClose_isRefused() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    pin(item("f", PAGE));
    residency.close();
    assertThat(mappings()).isZero();
    assertThat(residency.offer(new Offered(item("g", PAGE), false))).isFalse();
    assertThat(residency.figures().residentItems()).isZero();
  }

  // failed pins

  @Test
  void pin_fileGone_leavesTheBooksStraight() throws IOException {
    CachePolicy policy = start(1 << 20);
    Item item = item("missing", 3 * PAGE);
    pin(item);
    Await.until("the failure is counted", () -> residency.figures().pinFailures() == 1);
    Residency.Figures figures = residency.figures();
    assertThat(figures.residentBytes()).isZero();
    assertThat(figures.residentItems()).isZero();
    assertThat(residency.pinnedItems(Item.node(item.id()), 1)).isZero();
    assertThat(residency.residentNodes()).isEmpty();
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
    residency.tick();
    policy.check();
    // what could not be dropped because it is gone does not linger
    clock.advance(AGE);
    residency.tick();
    Await.until("the window is empty", () -> residency.figures().windowBytes() == 0);
  }

  @Test
  void pin_fileShorterThanTheItem_fails() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    pin(item("f", 4 * PAGE));
    assertThat(residency.figures().pinFailures()).isEqualTo(1);
    assertThat(residency.figures().residentBytes()).isZero();
    assertThat(mappings()).isZero();
  }

  /** A second mapping would be in no book, and stay for ever. */
  @Test
  void resume_itemThatWasFetchedMeanwhile_hasOneMapping() throws IOException {
    start(1 << 20);
    file("f", random(3 * PAGE));
    Item item = item("f", 3 * PAGE);
    pin(item);
    residency.resume(item);
    assertThat(residency.figures().residentItems()).isEqualTo(1);
    assertThat(residency.isPinned(item)).as("the one that was there").isTrue();
    residency.release(Item.node(item.id()), 1);
    assertThat(mappings()).isZero();
  }

  /** Nobody would ever let go of it: what there was of its file has been let go of. */
  @Test
  void offer_versionGoneMeanwhile_isNotAdmitted() throws IOException {
    start(1 << 20);
    file("f", random(3 * PAGE));
    Offered offered = new Offered(item("f", 3 * PAGE), false);
    offered.outdated = true;
    assertThat(residency.offer(offered)).isFalse();
    assertThat(offered.calls).hasValue(0);
    assertThat(residency.isResident(offered.item())).isFalse();
    assertThat(residency.figures().residentBytes()).isZero();
    assertThat(mappings()).isZero();
  }

  /** As long as the kernel believes a name, it leads to the version before, with its pages. */
  @Test
  void pin_nameStillLeadsToAnotherVersion_fails() throws IOException {
    start(1 << 20);
    Path path = file("f", random(3 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      application.read();
      Item item = item("f", 3 * PAGE);
      Version later =
          new Version(3L * PAGE, item.version().modified() + 1, item.version().inode(), "");
      Version shorter = new Version(3L * PAGE - 1, item.version().modified(), 7, "");
      for (Version other : List.of(later, shorter)) {
        pin(new Item(item.id(), item.path(), other, 0, (int) other.size()));
        assertThat(residency.isPinned(item)).as("%s", other).isFalse();
      }
      assertThat(residency.figures().pinFailures()).isEqualTo(2);
      assertThat(mappings()).isZero();
      pin(item);
      assertThat(residency.isPinned(item)).isTrue();
    }
  }

  @Test
  void pin_symlinkInPlaceOfTheFile_fails() throws IOException {
    start(1 << 20);
    file("target", random(PAGE));
    java.nio.file.Files.createSymbolicLink(sandbox.path("f"), sandbox.path("target"));
    pin(item("f", PAGE));
    assertThat(residency.figures().pinFailures()).isEqualTo(1);
    assertThat(mappings()).isZero();
  }

  // serving

  @Test
  void serve_pinnedItem_givesItsBytes() throws IOException {
    start(1 << 20);
    byte[] content = random(3 * PAGE + 17);
    file("f", content);
    Item item = item("f", content.length);
    RecordingReply early = new RecordingReply();
    assertThat(residency.serve(item, 0, 10, early)).isFalse();
    assertThat(early.isAnswered()).isFalse();
    pin(item);
    RecordingReply reply = new RecordingReply();
    assertThat(residency.serve(item, PAGE - 5, 2 * PAGE, reply)).isTrue();
    assertThat(reply.bytes()).isEqualTo(Arrays.copyOfRange(content, PAGE - 5, 3 * PAGE - 5));
    residency.release(Item.node(item.id()), 1);
    assertThat(residency.serve(item, 0, 10, early)).isFalse();
  }

  @Test
  void serve_releasedMeanwhile_keepsTheMappingUntilTheEnd() throws IOException {
    start(1 << 20);
    file("f", random(2 * PAGE));
    Item item = item("f", 2 * PAGE);
    pin(item);
    long[] during = new long[1];
    boolean served =
        residency.serve(
            item,
            0,
            PAGE,
            new io.holdfast.fs.ReadReply() {
              @Override
              public void data(long address, int length) {
                residency.release(Item.node(item.id()), 1);
                during[0] = mappings();
              }

              @Override
              public void failed(io.holdfast.fs.FsException cause) {
                throw new AssertionError(cause);
              }
            });
    assertThat(served).isTrue();
    assertThat(during[0]).isEqualTo(1);
    assertThat(mappings()).isZero();
  }

  // dropping

  @Test
  void delivered_itemNotAdmitted_isDroppedAfterTheAge() throws IOException {
    start(0);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      assumeTrue(application.cachedPages() >= 0, "a kernel that counts cached pages");
      application.read();
      residency.noteDelivered(item("f", 5 * PAGE), 5 * PAGE, true);
      residency.tick();
      assertThat(residency.figures().windowBytes()).isEqualTo(5L * PAGE);
      assertThat(application.cachedPages()).isEqualTo(5);
      clock.advance(AGE);
      residency.tick();
      Await.until("it is dropped", () -> residency.figures().droppedBytes() == 5L * PAGE);
      assertThat(application.cachedPages()).isZero();
      assertThat(residency.figures().windowBytes()).isZero();
    }
  }

  /** Extents are as long and as aligned as the smallest that may be set: folios are smaller. */
  @Test
  void delivered_nextToAPinnedExtent_leavesThePinAlone() throws IOException {
    int extent = 1 << 20;
    start(extent);
    Path path = file("f", random(2 * extent));
    try (MappedFile application = new MappedFile(path)) {
      assumeTrue(application.cachedPages() >= 0, "a kernel that counts cached pages");
      application.read();
      pin(item("f", 5, 0, 0, extent));
      residency.noteDelivered(item("f", 5, 1, extent, extent), extent, true);
      clock.advance(AGE);
      residency.tick();
      Await.until("it is dropped", () -> residency.figures().droppedBytes() == extent);
      assertThat(application.cachedPages()).isEqualTo(extent / PAGE);
    }
  }

  @Test
  void delivered_itemThatIsMapped_isDroppedWhenItIsUnmapped() throws IOException {
    start(0);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      assumeTrue(application.cachedPages() >= 0, "a kernel that counts cached pages");
      application.map();
      residency.noteDelivered(item("f", 5 * PAGE), 5 * PAGE, true);
      for (int i = 0; i < 3; i++) {
        clock.advance(Duration.ofSeconds(10));
        residency.tick();
        Await.until("the droppers are idle", this::droppersAreIdle);
        assertThat(residency.figures().windowBytes()).isEqualTo(5L * PAGE);
      }
      application.unmap();
      Await.until("it is dropped", this::tickUntilDropped);
      assertThat(application.cachedPages()).isZero();
    }
  }

  /** A fetch of the version before may deliver after the name has been given to another. */
  @Test
  void delivered_versionBeforeTheOneThatIsPinned_lingersNoMore() throws IOException {
    start(1 << 20);
    file("f", random(5 * PAGE));
    Item item = item("f", 5 * PAGE);
    pin(item);
    Version former = new Version(5L * PAGE, item.version().modified() - 1, 8, "");
    residency.noteDelivered(new Item(Item.id(99, 0), item.path(), former, 0, 5 * PAGE), 10, true);
    clock.advance(AGE);
    residency.tick();
    Await.until("the window is empty", () -> residency.figures().windowBytes() == 0);
    assertThat(residency.isPinned(item)).isTrue();
  }

  /** As when others made room, and what lingered was read again. */
  @Test
  void delivered_itemThatIsPinnedMeanwhile_lingersNoMore() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      assumeTrue(application.cachedPages() >= 0, "a kernel that counts cached pages");
      Item item = item("f", 5 * PAGE);
      residency.noteDelivered(item, 2 * PAGE, false);
      pin(item);
      Await.until("nothing lingers", this::tickUntilDropped);
      assertThat(application.cachedPages()).isEqualTo(5);
    }
  }

  /**
   * Reads past the page cache may begin and end within a page, which the reads of others have
   * brought in; the kernel drops whole pages only.
   */
  @Test
  void delivered_partThatEndsWithinAPage_lingersNoMore() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      assumeTrue(application.cachedPages() >= 0, "a kernel that counts cached pages");
      application.read();
      Item whole = item("f", 5 * PAGE);
      int half = PAGE / 2;
      residency.noteDelivered(
          new Item(whole.id(), whole.path(), whole.version(), 0, PAGE + half), PAGE + half, true);
      residency.noteDelivered(
          new Item(whole.id(), whole.path(), whole.version(), PAGE + half, PAGE), PAGE, true);
      Await.until("nothing lingers", this::tickUntilDropped);
      assertThat(application.cachedPages()).as("those that no part was of").isEqualTo(2);
    }
  }

  private boolean droppersAreIdle() {
    CountDownLatch done = new CountDownLatch(1);
    droppers.execute(done::countDown);
    Await.latch(done);
    return true;
  }

  private boolean tickUntilDropped() {
    clock.advance(Duration.ofSeconds(30));
    residency.tick();
    droppersAreIdle();
    return residency.figures().windowBytes() == 0;
  }
}
