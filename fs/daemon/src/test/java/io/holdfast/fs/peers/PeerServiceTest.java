package io.holdfast.fs.peers;

import static io.holdfast.fs.peers.PeersFixture.A;
import static io.holdfast.fs.peers.PeersFixture.B;
import static io.holdfast.fs.peers.PeersFixture.C;
import static io.holdfast.fs.peers.PeersFixture.DATASET;
import static io.holdfast.fs.peers.PeersFixture.ITEM_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.plan.Planned;
import io.holdfast.fs.plan.PlannedItem;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.transfer.BufferLease;
import io.holdfast.peer.transfer.ItemPath;
import io.holdfast.peer.transfer.ItemProvider;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Refusal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The answers of node A to node B. */
final class PeerServiceTest {
  private static final long ROOM = 64 << 20;

  private boolean oneStore = true;
  private PeersFixture node;
  private PeerService service;
  private final List<String> sent = new ArrayList<>();

  /** Whether the heap is full when a plan is asked for. */
  private volatile boolean full;

  /** No plan, but for what is sent. */
  private final Planned plan =
      new Planned() {
        @Override
        public @Nullable PlannedItem find(Item item) {
          if (full) {
            throw new OutOfMemoryError("for the test");
          }
          return null;
        }

        @Override
        public void sent(Item item, String to) {
          sent.add(to);
        }
      };

  private void start(long capacity) throws IOException {
    node = new PeersFixture(capacity, Selection.NONE);
    node.view(A, B, C);
    service =
        new PeerService(
            node.cluster, node.tree, node.layout, node.transit, node.residency, plan, node.threads);
  }

  @AfterEach
  void close() throws IOException {
    node.close();
  }

  /** Takes exactly one answer. */
  private static final class Taken implements ItemProvider.Answer {
    private final CompletableFuture<Object> answer = new CompletableFuture<>();

    @Override
    public void lent(BufferLease loan) {
      assertThat(answer.complete(loan)).isTrue();
    }

    @Override
    public void refused(Refusal refusal) {
      assertThat(answer.complete(refusal)).isTrue();
    }

    Object get() {
      try {
        return answer.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS);
      } catch (Exception e) {
        throw new AssertionError("no answer", e);
      }
    }

    BufferLease loan() {
      assertThat(get()).isInstanceOf(BufferLease.class);
      return (BufferLease) get();
    }
  }

  /** The plan learned of it before a byte was sent, so the item could make way too early. */
  @Test
  void item_thatIsLent_countsAsSentToItsAskerOnceTheLeaseIsClosed() throws IOException {
    start(1 << 20);
    Item item = node.item(A, B);
    BufferLease loan = ask(item, false).loan();
    assertThat(sent).isEmpty();
    loan.close();
    assertThat(sent).containsExactly(B.address().toString());
    ask(item, true).loan().close();
    assertThat(sent).as("a copy that a node asked for as an owner").hasSize(1);
  }

  private Taken ask(ItemRequest request) {
    Taken taken = new Taken();
    service.get(request, B.address(), oneStore, taken);
    return taken;
  }

  private Taken ask(Item item, boolean onlyIfCached) {
    return ask(PeerRequests.of(DATASET, item, item, onlyIfCached));
  }

  private void assertLent(byte[] expected, BufferLease loan) {
    try (loan) {
      assertThat(Memory.bytes(loan.address(), loan.length())).isEqualTo(expected);
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(expected);
      assertThat(loan.sha256()).isEqualTo(digest);
      assertThat(loan.sha256()).isEqualTo(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void ownItem_notThereYet_isFetchedKeptAndSent() throws IOException {
    start(ROOM);
    Item item = node.item(A, B);
    assertLent(node.bytes(item), ask(item, false).loan());
    Await.until("it is pinned", () -> node.residency.isPinned(item));
    assertThat(node.transit.stats().originItems.sum()).isEqualTo(1);
    assertLent(node.bytes(item), ask(item, true).loan());
    assertThat(node.transit.stats().originItems.sum()).isEqualTo(1);
    assertThat(service.residentBytes()).isPositive();
  }

  @Test
  void ownItem_askedBySeveralAtOnce_isFetchedOnce() throws IOException {
    start(ROOM);
    Item item = node.item(A, B);
    Taken[] answers = new Taken[20];
    for (int i = 0; i < answers.length; i++) {
      answers[i] = ask(item, false);
    }
    for (Taken answer : answers) {
      assertLent(node.bytes(item), answer.loan());
    }
    Await.until("it is counted", () -> node.transit.stats().originItems.sum() > 0);
    Await.until("no fetch is under way", () -> node.transit.stats().inFlight.sum() == 0);
    assertThat(node.transit.stats().originItems.sum()).isEqualTo(1);
  }

  @Test
  void part_ofAnItem_isSentAlone() throws IOException {
    start(ROOM);
    Item item = node.item(A, B);
    byte[] bytes = node.bytes(item);
    ItemRequest whole = PeerRequests.of(DATASET, item, item, false);
    ItemRequest part =
        new ItemRequest(DATASET, whole.path(), 0, whole.tag(), item.length(), 100, 200, false);
    assertLent(Arrays.copyOfRange(bytes, 100, 300), ask(part).loan());
    node.pin(item);
    assertLent(Arrays.copyOfRange(bytes, 100, 300), ask(part).loan());
  }

  @Test
  void laterExtents_areItemsOfTheirOwn() throws IOException {
    start(ROOM);
    node.view(A);
    Item first = node.write("large", 2 * ITEM_SIZE + 5);
    ItemRequest last =
        new ItemRequest(
            DATASET,
            ItemPath.of("large".getBytes(StandardCharsets.UTF_8)),
            2,
            PeerRequests.tag(first.version()),
            5,
            0,
            5,
            false);
    byte[] bytes = node.bytes(first);
    assertLent(Arrays.copyOfRange(bytes, 2 * ITEM_SIZE, bytes.length), ask(last).loan());
  }

  @Test
  void itemOfAnother_isNotFetched() throws IOException {
    start(ROOM);
    assertThat(ask(node.item(B, C), false).get()).isEqualTo(Refusal.FULL);
    assertThat(node.transit.stats().originItems.sum()).isZero();
  }

  @Test
  void itemThatTheOwnerHasNoRoomFor_isTakenAsNext() throws IOException {
    start(ROOM);
    Item item = node.item(B, A);
    assertLent(node.bytes(item), ask(item, false).loan());
    Await.until("it is pinned", () -> node.residency.isPinned(item));
  }

  @Test
  void ownItem_noRoom_isRefused() throws IOException {
    start(1);
    assertThat(ask(node.item(A, B), false).get()).isEqualTo(Refusal.FULL);
  }

  @Test
  void onlyIfCached_notThere_isRefusedWithoutAFetch() throws IOException {
    start(ROOM);
    assertThat(ask(node.item(A, B), true).get()).isEqualTo(Refusal.NOT_CACHED);
    assertThat(node.transit.stats().originItems.sum()).isZero();
  }

  @Test
  void otherVersionOrShape_isRefused() throws IOException {
    start(ROOM);
    Item item = node.item(A, B);
    ItemRequest good = PeerRequests.of(DATASET, item, item, false);
    int length = item.length();
    ItemPath path = good.path();
    assertThat(ask(new ItemRequest(DATASET, path, 0, "1-2", length, 0, length, false)).get())
        .isEqualTo(Refusal.OTHER_VERSION);
    assertThat(ask(new ItemRequest(DATASET, path, 1, good.tag(), length, 0, 5, false)).get())
        .isEqualTo(Refusal.OTHER_VERSION);
    assertThat(ask(new ItemRequest(DATASET, path, -1, good.tag(), length, 0, 5, false)).get())
        .isEqualTo(Refusal.OTHER_VERSION);
    assertThat(ask(new ItemRequest(DATASET, path, 0, good.tag(), length + 1, 0, 5, false)).get())
        .isEqualTo(Refusal.OTHER_VERSION);
    assertThat(ask(new ItemRequest(DATASET, path, 0, good.tag(), length, 5, length, false)).get())
        .isEqualTo(Refusal.OTHER_VERSION);
  }

  /** As 'cp -p' does it in place, on a store that both nodes read. */
  @Test
  void rewrittenWithSizeAndTimeKept_onOneStore_isLookedAtAgain() throws IOException {
    start(ROOM);
    node.view(A);
    Item before = node.write("file", 10_000);
    node.pin(before);
    Path file = node.sandbox.path("file");
    FileTime time = Files.getLastModifiedTime(file);
    byte[] news = new byte[10_000];
    String tag;
    do { // a clock that ticks some times a second writes the same time for a while
      Files.write(file, news);
      Files.setLastModifiedTime(file, time);
      FileTime changed = (FileTime) Files.getAttribute(file, "unix:ctime");
      long nanos = changed.to(TimeUnit.NANOSECONDS);
      Version now = before.version();
      tag = PeerRequests.tag(new Version(now.size(), now.modified(), nanos, now.inode(), 0, ""));
    } while (tag.equals(PeerRequests.tag(before.version())));
    ItemRequest stale = PeerRequests.of(DATASET, before, before, false);
    ItemRequest fresh =
        new ItemRequest(DATASET, stale.path(), 0, tag, stale.itemLength(), 0, 10_000, false);

    assertLent(news, ask(fresh).loan());
    assertThat(ask(stale).get()).isEqualTo(Refusal.OTHER_VERSION);
    oneStore = false; // of a copy that time says nothing
    assertLent(news, ask(stale).loan());
  }

  @Test
  void fileThatIsNotThere_orIsNone_isUnknown() throws IOException {
    start(ROOM);
    Files.createDirectory(node.sandbox.path("directory"));
    Files.createSymbolicLink(node.sandbox.path("link"), node.sandbox.path("directory"));
    for (String path : new String[] {"missing", "directory", "link/x", "missing/x"}) {
      ItemRequest request =
          new ItemRequest(
              DATASET,
              ItemPath.of(path.getBytes(StandardCharsets.UTF_8)),
              0,
              "1-2",
              1,
              0,
              1,
              false);
      assertThat(ask(request).get()).as(path).isEqualTo(Refusal.UNKNOWN);
    }
  }

  @Test
  void fileThatChanged_newVersionIsLookedUp() throws IOException {
    start(ROOM);
    node.view(A);
    Item before = node.write("file", 5000);
    byte[] now = new byte[6000];
    Files.write(node.sandbox.path("file"), now);
    long modified = Files.getLastModifiedTime(node.sandbox.path("file")).to(TimeUnit.NANOSECONDS);
    ItemRequest request =
        new ItemRequest(
            DATASET,
            ItemPath.of("file".getBytes(StandardCharsets.UTF_8)),
            0,
            PeerRequests.tag(new io.holdfast.fs.origin.Version(6000, modified, 0, "")),
            6000,
            0,
            6000,
            false);
    assertLent(now, ask(request).loan());
    assertThat(ask(before, false).get()).isEqualTo(Refusal.OTHER_VERSION);
  }

  /** Nobody answered, and its reader waited for the end of the time. */
  @Test
  void fileThatIsLookedUp_whileTheHeapIsFull_isRefused() throws IOException {
    start(ROOM);
    node.view(A);
    Files.write(node.sandbox.path("file"), new byte[6000]);
    long modified = Files.getLastModifiedTime(node.sandbox.path("file")).to(TimeUnit.NANOSECONDS);
    ItemRequest request =
        new ItemRequest(
            DATASET,
            ItemPath.of("file".getBytes(StandardCharsets.UTF_8)),
            0,
            PeerRequests.tag(new Version(6000, modified, 0, "")),
            6000,
            0,
            6000,
            false);
    full = true;
    assertThat(ask(request).get()).isEqualTo(Refusal.ORIGIN_FAILED);
    full = false;
    assertLent(new byte[6000], ask(request).loan());
  }

  @Test
  void held_byTheOwner_isCededOnceNobodyReadsItAnyMore() throws IOException {
    start(ROOM);
    Item item = node.item(B, A);
    node.pin(item);
    BufferLease loan = ask(item, true).loan();
    service.held(PeerRequests.of(DATASET, item, item, true), B.address());
    assertThat(node.residency.isResident(item)).isFalse();
    // still mapped: else this would end the process
    assertLent(node.bytes(item), loan);
    assertThat(ask(item, true).get()).isEqualTo(Refusal.NOT_CACHED);
  }

  @Test
  void held_byAnyOther_isNotCeded() throws IOException {
    start(ROOM);
    Item own = node.item(A, B);
    Item another = node.item(B, A);
    node.pin(own);
    node.pin(another);
    service.held(PeerRequests.of(DATASET, own, own, true), B.address());
    service.held(PeerRequests.of(DATASET, another, another, true), C.address());
    assertThat(node.residency.isPinned(own)).isTrue();
    assertThat(node.residency.isPinned(another)).isTrue();
  }
}
