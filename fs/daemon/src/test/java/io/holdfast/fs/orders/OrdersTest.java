package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.Failures;
import io.holdfast.fs.FsError;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.figures.OrderFigures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link Orders} and {@link Announcement}. */
final class OrdersTest {
  private static final Orders.Bounds SMALL = new Orders.Bounds(50, 80, 3);

  private OrdersFixture t;

  private OrdersFixture with(Orders.Bounds bounds) throws Exception {
    t = new OrdersFixture(true, false, bounds);
    t.files(40);
    return t;
  }

  @AfterEach
  void close() throws Exception {
    t.close();
  }

  private static List<String> names(int count) {
    return IntStream.range(0, count).mapToObj(OrdersFixture::name).toList();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private List<String> jobs() {
    return t.orders.figures().stream().map(OrderFigures::job).toList();
  }

  private static void refused(FsError code, String says, ThrowingCallable call) {
    Failures.assertFails(call, code);
    assertThatThrownBy(call).hasMessageContaining(says);
  }

  // --- the input

  @Test
  void lines_thatNameNoFile_areCountedAndLeftOut_andTheOriginIsNotAsked() throws Exception {
    with(Orders.BOUNDS);
    t.origin.symlink(bytes("d0/link"), bytes("f0"));
    t.origin.fifo(bytes("d0/pipe"));
    t.know("d0/link");
    t.know("d0/pipe");
    t.origin.file("d0/new", new byte[1]);
    long asked = t.origin.stats();

    List<String> odd =
        List.of(
            "",
            "/",
            "..",
            "d0",
            "d0/",
            "/d0/f0",
            "d0//f0",
            "d0/../d0/f0",
            "./d0/f0",
            "d0/f0/",
            "d0/f0/x",
            "none/f0",
            "d0/link",
            "d0/pipe",
            "d0/new",
            "d0/f0\0",
            "\uD800",
            "x".repeat(4096));
    List<String> lines = new ArrayList<>(odd);
    lines.addAll(names(2));
    lines.add(1, OrdersFixture.name(3));
    Map<String, Object> taken = t.announce("j", lines);
    assertThat(taken)
        .containsEntry("lines", (long) lines.size())
        .containsEntry("files", 3)
        .containsEntry("unknown", (long) odd.size())
        .containsEntry("first_unknown", "");
    assertThat(t.origin.stats()).isEqualTo(asked);
  }

  @Test
  void order_inParts_isTakenWithTheLast() throws Exception {
    with(Orders.BOUNDS);
    Object id = t.begin("j").get("id");
    for (String name : names(9)) {
      assertThat(t.add(id, List.of(name), false)).containsEntry("source", "announced");
      assertThat(jobs()).isEmpty();
    }
    assertThat(t.add(id, List.of("none"), true)).containsEntry("lines", 10L);
    assertThat(jobs()).containsExactly("j");
    refused(FsError.NOT_FOUND, "'id'", () -> t.add(id, List.of(), true));
  }

  @Test
  void input_withoutEnd_isRefusedAndForgotten() throws Exception {
    with(SMALL);
    Object id = t.begin("j").get("id");
    t.add(id, names(40), false);
    t.add(id, Collections.nCopies(10, "none"), false);
    assertThatThrownBy(() -> t.add(id, List.of("none"), false))
        .hasMessageContaining("at most 50 lines");
    refused(FsError.NOT_FOUND, "'id'", () -> t.add(id, List.of(), true));
    assertThat(jobs()).isEmpty();
  }

  @Test
  void orders_ofTooManyFilesInAll_areRefused_andThoseTakenStay() throws Exception {
    with(SMALL);
    t.announce("a", names(40));
    t.announce("b", names(40));
    refused(FsError.RANGE, "at most 80 files", () -> t.announce("c", names(1)));
    assertThat(jobs()).containsExactly("a", "b");
    t.orders.request(Map.of("clear", "a"));
    t.announce("c", names(1));
    assertThat(jobs()).containsExactly("b", "c");
  }

  @Test
  void orders_tooMany_areRefused_butAJobMayHaveAnother() throws Exception {
    with(SMALL);
    for (String job : List.of("a", "b", "c")) {
      t.announce(job, names(2));
    }
    refused(FsError.UNAVAILABLE, "there are 3 orders", () -> t.announce("d", names(2)));
    assertThat(t.announce("b", names(3))).containsEntry("files", 3);
    assertThat(jobs()).containsExactly("a", "b", "c");
  }

  @Test
  void announcements_thatDoNotGoOn_makeRoomForOthers() throws Exception {
    with(SMALL);
    Object first = t.begin("a").get("id");
    t.begin("b");
    t.begin("c");
    refused(FsError.UNAVAILABLE, "3 orders are being announced", () -> t.begin("d"));
    t.clock.advance(Duration.ofSeconds(9));
    t.add(first, names(1), false);
    t.clock.advance(Duration.ofSeconds(2));
    t.orders.tick();
    t.begin("d");
    assertThat(t.add(first, List.of(), true)).as("it went on").containsEntry("files", 1);
    assertThat(jobs()).containsExactly("a");
  }

  @Test
  void order_withoutAFile_isRefused_andTheLastOneStays() throws Exception {
    with(Orders.BOUNDS);
    t.announce("j", names(5));
    refused(FsError.NOT_FOUND, "no lines", () -> t.announce("j", List.of()));
    refused(FsError.NOT_FOUND, "such as 'a'", () -> t.announce("j", List.of("a", "b")));
    assertThat(t.orders.figures().get(0).length()).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 129, 100_000})
  void job_withoutAUsableName_isRefused(int length) throws Exception {
    with(Orders.BOUNDS);
    String name = length == 1 ? " " : "x".repeat(length);
    refused(FsError.INVALID, "1 to 128 characters", () -> t.begin(name));
  }

  @Test
  void order_beforeTheDatasetIsListed_orWithoutCountedOpens_isNotBegun() throws Exception {
    with(Orders.BOUNDS);
    t.listed = false;
    assertThat(t.begin("j")).containsExactly(Map.entry("listing", true));
    t.counted = false;
    refused(FsError.UNSUPPORTED, "--count-opens", () -> t.begin("j"));
  }

  @Test
  void order_afterTheEnd_isRefused() throws Exception {
    with(Orders.BOUNDS);
    t.announce("j", names(5));
    t.orders.close();
    refused(FsError.UNAVAILABLE, "is ending", () -> t.begin("j"));
    assertThat(jobs()).isEmpty();
  }

  // --- what comes of it

  @Test
  void files_behindTheJob_areFetchedAhead_andEachOnce() throws Exception {
    t = new OrdersFixture();
    t.files(400);
    t.announce(t.job, names(400).subList(390, 400));
    t.open(390);
    t.announce(t.job, names(400));
    awaitFigure("the first files are fetched before any open", 8, 0);
    for (int i = 0; i < 400; i++) {
      t.open(i);
      int next = Math.min(400, i + 2);
      Await.until("the next file is there", () -> figures().prefetchedItems() >= next);
    }
    awaitFigure("all are used", 400, 400);
    OrderFigures all = figures();
    assertThat(all.position()).isEqualTo(400);
    assertThat(all.surprises()).isZero();
    assertThat(all.wastedBytes()).isZero();
    assertThat(t.transit.stats().originItems.sum()).isEqualTo(400);
  }

  private OrderFigures figures() {
    return t.orders.figures().get(0);
  }

  private void awaitFigure(String what, long prefetched, long used) {
    Await.until(
        what, () -> figures().prefetchedItems() == prefetched && figures().usedItems() == used);
  }

  /** Opens of another job do not move an order. */
  @Test
  void opens_ofAnotherJob_areNotTheOrders() throws Exception {
    with(Orders.BOUNDS);
    t.announce("other", names(40));
    t.open(0, 1, 2, 3);
    assertThat(figures().position()).isZero();
    assertThat(figures().surprises()).isZero();
  }

  // --- learned orders

  private void learning(int files) throws Exception {
    t = new OrdersFixture(true, true, Orders.BOUNDS);
    t.files(files);
  }

  private void awaitLearned() {
    Await.until(
        "the order is found",
        () -> !t.orders.figures().isEmpty() && figures().source().equals("learned"));
  }

  @Test
  void pass_thatIsReadAgain_isLearned_andEndedByThreeSurprises() throws Exception {
    int n = 600;
    learning(n);
    IntStream.range(0, n).forEach(t::fetch);
    for (int i = 0; i < 64; i++) {
      t.open(i);
    }
    awaitLearned();
    assertThat(figures().position()).isEqualTo(64);
    for (int i = 64; i < n; i++) {
      t.open(i);
      int next = Math.min(n, i + 2) - 65;
      Await.until("the next file is there", () -> figures().prefetchedItems() >= next);
    }
    assertThat(figures().usedItems()).isEqualTo(n - 65L);
    assertThat(figures().surprises()).isZero();
    assertThat(figures().length()).isEqualTo(n);

    // the next pass is the same, and nothing has to be found again
    t.open(0);
    Await.until("it goes on", () -> figures().prefetchedItems() >= n - 65 + 5);
    for (int file : new int[] {400, 200, 550}) {
      t.open(file);
    }
    assertThat(figures().surprises()).isEqualTo(3);
    assertThat(figures().source()).as("its last figures").isEqualTo("learned");
    long fetched = t.transit.stats().originItems.sum();
    for (int i = 1; i < 60; i++) {
      t.open(i * 7 % n);
    }
    assertThat(figures().usedItems()).as("nobody follows").isEqualTo(n - 65L);
    assertThat(t.transit.stats().originItems.sum()).isLessThanOrEqualTo(fetched + 1);
  }

  /** A program that looks at files without reading them, as tar into nothing does. */
  @Test
  void job_thatReadsNothing_isNotFetchedFor() throws Exception {
    int n = 300;
    learning(n);
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < n; i++) {
        t.open(i);
        if (pass == 1 && i == 63) {
          awaitLearned();
        }
      }
    }
    Await.until(
        "it is over",
        () -> {
          t.open(n - 1);
          return figures().windowBytes() == 0 && t.orders.active() == 0;
        });
    assertThat(figures().prefetchedItems()).isZero();
    assertThat(t.transit.stats().originItems.sum()).isZero();
  }

  @Test
  void job_thatShuffles_costsNothing() throws Exception {
    int n = 500;
    learning(n);
    long seed = Seeds.next("job_thatShuffles");
    Random random = new Random(seed);
    List<Integer> files = new ArrayList<>(IntStream.range(0, n).boxed().toList());
    for (int pass = 0; pass < 50; pass++) {
      Collections.shuffle(files, random);
      files.forEach(t::fetch);
    }
    assertThat(t.orders.figures()).as("seed %d", seed).isEmpty();
    assertThat(t.transit.stats().originItems.sum()).isZero();
    assertThat(t.orders.active()).isZero();
  }

  @Test
  void announcedOrder_takesThePlaceOfALearnedOne() throws Exception {
    t = new OrdersFixture(true, true, new Orders.Bounds(400, 400, 1));
    t.files(300);
    IntStream.range(0, 300).forEach(t::fetch);
    IntStream.range(0, 64).forEach(t::open);
    awaitLearned();
    t.announce("other", names(200));
    assertThat(jobs()).containsExactly("other");
  }

  @Test
  void ordersOff_areRefused() throws Exception {
    t = new OrdersFixture(false, false, Orders.BOUNDS);
    refused(FsError.UNSUPPORTED, "--orders off", () -> t.begin("j"));
  }
}
