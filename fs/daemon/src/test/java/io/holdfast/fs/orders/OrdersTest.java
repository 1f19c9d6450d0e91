package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.fs.Await;
import io.holdfast.fs.Failures;
import io.holdfast.fs.FsError;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.plan.Plans;
import io.holdfast.fs.transit.Sharing;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Tests of {@link Orders} and {@link Announcement}. */
final class OrdersTest {
  private static final Orders.Bounds SMALL = new Orders.Bounds(50, 1000, 3);

  /** Two passes of 40 files. */
  private static final Orders.Bounds TWO_PASSES =
      new Orders.Bounds(50, 2 * (40 + Orders.FILES_OF_PASS), 3);

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
    t.file("top");
    long asked = t.origin.stats();

    List<String> odd =
        List.of(
            "",
            "/",
            "..",
            "d0",
            "d0/",
            "/d0/f0",
            "/top",
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

  /** Files of the root behind a line with a folder were unknown, and so left out of the order. */
  @Test
  void files_ofTheRoot_areFound_alsoBehindThoseOfFolders() throws Exception {
    with(Orders.BOUNDS);
    t.file("top");
    t.file("top2");
    assertThat(t.announce("j", List.of("d0/f0", "top", "d1/f1", "top2")))
        .containsEntry("files", 4)
        .containsEntry("unknown", 0L);
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

  // --- several nodes

  private void tick(Plans plans) {
    for (int i = 0; i < 3; i++) {
      t.clock.advance(Duration.ofMillis(500));
      plans.tick();
    }
  }

  private static List<String> evenNames() {
    return IntStream.range(0, 20).mapToObj(i -> OrdersFixture.name(2 * i)).toList();
  }

  private Plans planned() throws Exception {
    with(Orders.BOUNDS);
    Plans plans = t.withPeer();
    Map<String, Object> sampler =
        Map.of("seed", "7", "epoch", 0, "shuffle", false, "world", 2, "rank", 0, "plan", t.job);
    Object list = t.orders.request(sampler).get("id");
    assertThat(t.add(list, names(40), true)).isEqualTo(Map.of("plan", "offered"));
    Map<String, Object> order = Map.of("begin", t.job, "source", "sampler", "planned", true);
    t.add(t.orders.request(order).get("id"), evenNames(), true);
    tick(plans);
    assertThat(plans.ownOffer()).contains(" epoch 0 ");
    return plans;
  }

  /** A node offered an epoch that nobody had announced. */
  @Test
  void rank_atTheEndOfItsOrder_offersNoEpoch_untilOneMoreIsAnnounced() throws Exception {
    Plans plans = planned();
    t.open(IntStream.range(0, 20).map(i -> 2 * i).toArray());
    tick(plans);
    assertThat(plans.ownOffer()).isEmpty();
    assertThat(plans.figures().state()).isEqualTo("the next epoch is waited for");

    Map<String, Object> next = Map.of("begin", t.job, "source", "sampler", "then", true);
    t.add(t.orders.request(next).get("id"), evenNames(), true);
    tick(plans);
    assertThat(plans.ownOffer()).contains(" epoch 1 ");
  }

  @Test
  void rank_whoseOrderIsOver_isWithdrawn() throws Exception {
    Plans plans = planned();
    t.open(IntStream.range(0, 19).map(i -> 2 * i).toArray()); // the last one is left out
    t.clock.advance(Duration.ofMinutes(10));
    tick(plans);
    assertThat(plans.figures().state()).isEqualTo("rank 0 has read its order to the end");
  }

  @Test
  void rank_whoseOrderIsCleared_isWithdrawn() throws Exception {
    Plans plans = planned();
    t.orders.request(Map.of("clear", t.job));
    assertThat(plans.ownOffer()).isEmpty();
    assertThat(plans.figures().state()).isEqualTo("an order was taken back");
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
    with(TWO_PASSES);
    t.announce("a", names(40));
    t.announce("b", names(40));
    refused(FsError.RANGE, "at most 280 files", () -> t.announce("c", names(1)));
    assertThat(jobs()).containsExactly("a", "b");
    t.orders.request(Map.of("clear", "a"));
    t.announce("c", names(1));
    assertThat(jobs()).containsExactly("b", "c");
  }

  @Test
  void passes_ofFewFiles_areBoundedAsWell() throws Exception {
    with(TWO_PASSES);
    t.announce("a", names(1));
    Object second = t.orders.request(Map.of("begin", "a", "then", true)).get("id");
    t.add(second, names(1), true);
    refused(FsError.RANGE, "at most 280 files", () -> t.announce("a", names(1)));
    assertThat(figures().length()).isEqualTo(1);
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

  /**
   * A job's name is its process's number, or a launcher's: ended jobs do not clear their orders.
   */
  @Test
  void orders_ofJobsThatOpenNothingForAnHour_makeRoomForOthers() throws Exception {
    with(SMALL);
    t.announce("a", names(2));
    t.clock.advance(Duration.ofSeconds(1));
    t.announce(t.job, names(20));
    t.announce("b", names(2));
    t.clock.advance(Duration.ofMinutes(59));
    refused(FsError.UNAVAILABLE, "there are 3 orders", () -> t.announce("c", names(2)));
    t.open(0);
    t.clock.advance(Duration.ofMinutes(2));
    t.announce("c", names(2));
    assertThat(jobs()).containsExactlyInAnyOrder("b", "c", t.job);
    assertThat(t.keptFiles()).as("nor does the next daemon know it").doesNotContain("1.0.order");
    t.announce("d", names(2));
    assertThat(jobs()).containsExactlyInAnyOrder("c", "d", t.job);
    refused(FsError.UNAVAILABLE, "there are 3 orders", () -> t.announce("e", names(2)));
  }

  /** The thirty-third trial within an hour was refused. */
  @Test
  void orders_ofJobsThatHaveEnded_makeRoomForOthers() throws Exception {
    with(SMALL);
    try (ShortJob trial = new ShortJob()) {
      String job = t.activity.caller(trial.process).job();
      t.announce(t.job, names(20));
      t.open(0);
      t.announce("unseen", names(2));
      t.openAs("unseen", 0);
      t.announce(job, names(2));
      t.openAs(job, 0);
      t.clock.advance(Duration.ofSeconds(11));
      refused(FsError.UNAVAILABLE, "there are 3 orders", () -> t.announce("a", names(2)));
      trial.end();
      t.announce("a", names(2));
      assertThat(jobs()).containsExactlyInAnyOrder("a", "unseen", t.job);
    }
  }

  /** Trials that are started again have the names of those that have ended. */
  @Test
  void order_ofAJobThatHasYetToBegin_stays_thoughOneOfItsNameHasEnded() throws Exception {
    with(SMALL);
    try (ShortJob trial = new ShortJob()) {
      String job = t.activity.caller(trial.process).job();
      trial.end();
      t.announce(job, names(2));
      t.announce("a", names(2));
      t.announce("b", names(2));
      t.clock.advance(Duration.ofMinutes(1));
      refused(FsError.UNAVAILABLE, "there are 3 orders", () -> t.announce("c", names(2)));
      t.openAs(job, 0);
      refused(FsError.UNAVAILABLE, "there are 3 orders", () -> t.announce("c", names(2)));
      t.clock.advance(Duration.ofSeconds(11));
      t.announce("c", names(2));
      assertThat(jobs()).containsExactlyInAnyOrder("a", "b", "c");
    }
  }

  /** A process that a shell has started, which leads a session. */
  private static final class ShortJob implements AutoCloseable {
    final int process;
    private final Process shell;

    ShortJob() throws IOException {
      shell = new ProcessBuilder("setsid", "sh", "-c", "sleep 1000 & echo $!; wait").start();
      process = Integer.parseInt(shell.inputReader().readLine());
    }

    void end() {
      ProcessHandle job = ProcessHandle.of(process).orElseThrow();
      job.destroyForcibly();
      job.onExit().join();
    }

    @Override
    public void close() {
      ProcessHandle.of(process).ifPresent(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
    }
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

  /** The origin's threads may all be busy. A file that had no turn is not lost for the pass. */
  @Test
  void files_whoseFetchesHaveNoTurn_areFetchedOnceThereIsOne() throws Exception {
    t = new OrdersFixture();
    t.files(400);
    AtomicInteger refused = new AtomicInteger();
    t.ahead =
        task -> {
          refused.incrementAndGet();
          throw new RejectedExecutionException("no turn");
        };
    t.announce(t.job, names(400));
    t.open(0);
    for (int i = 1; i <= 3; i++) {
      int tries = i;
      awaitAsTimePasses("the file is tried again", () -> refused.get() >= tries);
    }
    assertThat(t.orders.figures().get(0).prefetchedItems()).isZero();
    t.ahead = Runnable::run;
    for (int i = 1; i < 400; i++) {
      int here = i;
      awaitAsTimePasses("the file is there", () -> figures().prefetchedItems() >= here);
      t.open(i);
    }
    awaitFigure("all are used", 399, 399);
    assertThat(t.origin.bytesRead()).isEqualTo(399L * OrdersFixture.SIZE);
    assertThat(figures().wastedBytes()).isZero();
  }

  /** They counted as ahead of the job for good, and the order had no room for others. */
  @Test
  void files_whoseFetchesAFullHeapBrokeOff_takeNoRoomOfOthers() throws Exception {
    t = new OrdersFixture();
    t.files(100);
    AtomicInteger left = new AtomicInteger(8);
    t.transit.sharing(
        (Sharing)
            Proxy.newProxyInstance(
                Sharing.class.getClassLoader(),
                new Class<?>[] {Sharing.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("begins") && left.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("Java heap space");
                  }
                  return method.invoke(Sharing.NONE, arguments);
                }),
        0);
    t.announce(t.job, names(100));
    t.open(0);
    Await.until("the files behind them are fetched", () -> figures().prefetchedItems() > 0);
    assertThat(left.get()).isNotPositive();
  }

  /** The orders' clock goes on, about as fast as another: a pause may begin at any time. */
  private void awaitAsTimePasses(String what, BooleanSupplier holds) {
    Await.until(
        what,
        () -> {
          boolean now = holds.getAsBoolean();
          t.clock.advance(Duration.ofNanos(now ? 0 : 1000));
          return now;
        });
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

  /** A sampler with replacement has files twice; an open stands for both. */
  @Test
  void filesThatComeTwice_areRead_whenEachIsOpened() throws Exception {
    with(Orders.BOUNDS);
    List<String> twice = new ArrayList<>(names(10));
    twice.addAll(names(10));
    t.announce(t.job, twice);
    Object id = t.orders.request(Map.of("begin", t.job, "then", true)).get("id");
    t.add(id, names(40).subList(20, 25), true);
    t.open(IntStream.range(0, 9).toArray());
    t.orders.tick();
    t.nextDaemon();
    assertThat(figures().length()).isEqualTo(20);
    t.open(9);
    assertThat(figures().length()).as("the next pass").isEqualTo(5);
  }

  // --- the next daemon

  /** Returns how many files were fetched ahead and are not opened yet. */
  private static long ahead(OrderFigures order) {
    return order.prefetchedItems() - order.usedItems();
  }

  private OrderFigures of(String job) {
    return t.orders.figures().stream().filter(each -> each.job().equals(job)).findAny().get();
  }

  @Test
  void nextDaemon_followsAnnouncedOrders_fromWhereTheirJobsAre() throws Exception {
    t = new OrdersFixture();
    t.files(400);
    t.announce(t.job, names(400));
    t.announce("other", names(7));
    t.announce("cleared", names(7));
    t.orders.request(Map.of("clear", "cleared"));
    t.open(IntStream.range(0, 100).toArray());
    t.orders.tick();
    Await.until("a window of 16", () -> ahead(of(t.job)) == 16);
    long inPassing = of(t.job).usedItems(); // of the first 100, between two opens
    t.open(100, 101); // not kept yet
    Await.until("up to file 117", () -> of(t.job).prefetchedItems() == inPassing + 18);

    t.nextDaemon();
    t.orders.tick();

    assertThat(jobs()).containsExactlyInAnyOrder(t.job, "other");
    assertThat(of("other").length()).isEqualTo(7);
    OrderFigures begun = of(t.job);
    assertThat(begun.source()).isEqualTo("announced");
    assertThat(begun.length()).isEqualTo(400);
    assertThat(begun.position()).isEqualTo(100);
    for (int i = 102; i < 400; i++) {
      t.open(i);
      int missing = Math.min(399, i + 1) - 117;
      Await.until("the next file is there", () -> of(t.job).prefetchedItems() >= missing);
    }
    assertThat(of(t.job).position()).isEqualTo(400);
    assertThat(t.origin.bytesRead())
        .as("nothing twice")
        .isEqualTo((300L + inPassing) * OrdersFixture.SIZE);
    assertThat(of(t.job).surprises()).isZero();
    t.open(0, 1, 2);
    assertThat(of(t.job).position()).as("the next pass").isEqualTo(3);
  }

  /** Numbers began at 1 in each daemon, so the lines went into another client's order. */
  @Test
  void nextDaemon_knowsNoAnnouncementOfTheOneBefore() throws Exception {
    with(Orders.BOUNDS);
    Object before = t.begin("before").get("id");
    t.nextDaemon();
    Object after = t.begin("after").get("id");
    refused(FsError.NOT_FOUND, "'id'", () -> t.add(before, names(3), true));
    assertThat(t.add(after, names(2), true)).containsEntry("files", 2);
  }

  @Test
  void nextDaemon_knowsThePassesThatAreToCome_andTheDaemonAfterItToo() throws Exception {
    with(Orders.BOUNDS);
    List<String> second = names(40).subList(10, 30);
    t.announce(t.job, names(40));
    Object id = t.orders.request(Map.of("begin", t.job, "then", true)).get("id");
    t.add(id, second, true);
    t.open(IntStream.range(0, 40).toArray());
    t.open(IntStream.range(10, 15).toArray());
    t.orders.tick();

    t.nextDaemon();
    assertThat(figures().length()).isEqualTo(20);
    assertThat(figures().position()).isEqualTo(5);
    t.open(IntStream.range(15, 18).toArray());
    t.orders.tick();
    Object third = t.orders.request(Map.of("begin", t.job, "then", true)).get("id");
    t.add(third, names(9), true);

    t.nextDaemon();
    assertThat(figures().length()).isEqualTo(20);
    assertThat(figures().position()).isEqualTo(8);
    t.open(IntStream.range(18, 30).toArray());
    assertThat(figures().length()).as("the third pass").isEqualTo(9);
    assertThat(figures().position()).isZero();
    t.open(0);
    assertThat(figures().position()).isEqualTo(1);
    assertThat(figures().surprises()).isZero();
  }

  /** Passes that are over take no room. */
  @Test
  void passes_thatAreOver_areNotKept() throws Exception {
    with(Orders.BOUNDS);
    t.announce(t.job, names(40));
    for (int pass = 1; pass <= 5; pass++) {
      Object id = t.orders.request(Map.of("begin", t.job, "then", true)).get("id");
      t.add(id, names(40), true);
      t.open(IntStream.range(0, 40).toArray());
      t.orders.tick();
      assertThat(t.keptFiles()).containsExactlyInAnyOrder("1." + pass + ".order", "1.place");
    }
    t.orders.request(Map.of("clear", t.job));
    assertThat(t.keptFiles()).isEmpty();
  }

  /** Workers are not done with a pass when its last file is opened. */
  @Test
  void nextDaemon_leavesAPassToItsLastWorkers() throws Exception {
    with(Orders.BOUNDS);
    t.announce(t.job, names(40));
    Object id = t.orders.request(Map.of("begin", t.job, "then", true)).get("id");
    t.add(id, names(40).subList(20, 30), true);
    t.open(IntStream.range(0, 30).toArray());
    t.open(39);
    t.orders.tick();

    t.nextDaemon();
    assertThat(figures().position()).isEqualTo(40);
    t.open(30, 31, 32);
    assertThat(figures().length()).as("still the first pass").isEqualTo(40);
    t.open(20);
    assertThat(figures().length()).as("no file of the next pass alone begins it").isEqualTo(40);
  }

  /** Its next pass may be right. */
  @Test
  void nextDaemon_knowsAnOrder_ofWhichTooMuchWasInVain() throws Exception {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.list = new CopyOnWriteArrayList<>();
    lines.start();
    Logger log = (Logger) LoggerFactory.getLogger(Prefetcher.class);
    log.addAppender(lines);
    try {
      t = new OrdersFixture();
      t.files(400);
      t.announce(t.job, names(400));
      t.open(0);
      awaitFigure("all that may be in vain", 16, 0);
      t.clock.advance(Duration.ofSeconds(9));
      Await.until("it is", () -> figures().wastedBytes() == 16L * OrdersFixture.SIZE);
      t.open(1);
      Await.until(
          "nothing is fetched in this pass any more",
          () ->
              lines.list.stream()
                  .anyMatch(line -> line.getFormattedMessage().contains("the rest of this pass")));
    } finally {
      log.detachAppender(lines);
    }
    t.orders.tick();

    t.nextDaemon();
    assertThat(jobs()).containsExactly(t.job);
    assertThat(figures().position()).isEqualTo(2);
  }

  /** A job goes on with its hits while no daemon is there to count them. */
  @Test
  void nextDaemon_findsAJobThatWentOnFarMeanwhile() throws Exception {
    int n = 3 * Order.NEAR;
    t = new OrdersFixture();
    t.files(n);
    t.announce(t.job, names(n));
    t.open(IntStream.range(0, 1000).toArray());
    t.orders.tick();

    t.nextDaemon();
    t.orders.tick();
    int at = 1000 + 2 * Order.NEAR;
    t.open(at);
    Await.until("the job is found", () -> figures().position() == at + 1);
    t.open(at + 1);
    Await.until("what comes next is fetched", () -> figures().prefetchedItems() > 0);
    t.open(at + 2);
    assertThat(figures().position()).isEqualTo(at + 3);
    assertThat(figures().surprises()).isZero();
  }

  @Test
  void nextDaemon_ofAJobThatReadsSomethingElse_countsSurprises() throws Exception {
    with(Orders.BOUNDS);
    t.announce(t.job, names(20));
    t.open(0, 1, 2);
    t.orders.tick();
    t.nextDaemon();
    t.orders.tick();
    Await.until(
        "its files are surprises",
        () -> {
          t.open(30, 31, 32);
          return figures().surprises() > 0;
        });
    assertThat(figures().position()).isEqualTo(3);
  }

  @Test
  void nextDaemon_thatTakesNoOrders_forgetsThem_onceItStays() throws Exception {
    with(Orders.BOUNDS);
    t.announce(t.job, names(5));
    t.announced = false;
    t.nextDaemon();
    assertThat(jobs()).isEmpty();
    assertThat(t.keptFiles()).as("the daemon may not start").isNotEmpty();
    t.orders.tick();
    assertThat(t.keptFiles()).isEmpty();
  }

  /** A kill may come in any moment. */
  @Test
  void nextDaemon_leavesOutWhatIsDamaged_andRemovesIt() throws Exception {
    with(Orders.BOUNDS);
    t.announce("whole", names(5));
    t.announce("cut", names(5));
    t.announce("more", names(5));
    Object id = t.orders.request(Map.of("begin", "more", "then", true)).get("id");
    t.add(id, names(30), true);
    t.announce("odd", names(5));
    t.announce("twice", names(5));
    t.announce("last", names(5));
    byte[] cut = t.kept("2.0.order");
    t.keep("2.0.order", Arrays.copyOf(cut, cut.length - 1));
    t.keep("3.1.order.part", new byte[3]);
    t.keep("4.0.order", bytes("odd"));
    t.keep("9.0.order", t.kept("5.0.order")); // another order of that job
    t.keep("1.place", new byte[3]);
    t.keep("77.place", new byte[3]);
    t.keep("part", new byte[3]);

    t.nextDaemon();

    assertThat(jobs()).containsExactlyInAnyOrder("whole", "more", "twice", "last");
    assertThat(t.keptFiles())
        .containsExactlyInAnyOrder(
            "1.0.order", "1.place", "3.0.order", "3.1.order", "6.0.order", "9.0.order");
    assertThat(of("more").length()).isEqualTo(5);
    t.announce("new", names(6));
    assertThat(t.keptFiles()).contains("10.0.order");
    t.nextDaemon();
    assertThat(jobs()).containsExactlyInAnyOrder("whole", "more", "twice", "last", "new");
  }

  /** Whatever is damaged: the next daemon has this order, whole, or none. */
  @Test
  void nextDaemon_withDamagedBytes_hasTheOrderOrNone() throws Exception {
    long seed = Seeds.next("OrdersTest.nextDaemon_withDamagedBytes_hasTheOrderOrNone");
    Random random = new Random(seed);
    with(Orders.BOUNDS);
    t.announce(t.job, names(30));
    byte[] whole = t.kept("1.0.order");
    int head = whole.length - 30 * 5;
    int none = 0;
    for (int i = 0; i < 200; i++) {
      byte[] bytes = whole.clone();
      for (int k = random.nextInt(4); k > 0; k--) {
        bytes[head + random.nextInt(bytes.length - head)] = (byte) random.nextInt();
      }
      byte[] place = new byte[random.nextInt(14)];
      random.nextBytes(place);
      Arrays.fill(place, 0, Math.min(place.length, random.nextInt(16)), (byte) 0);
      t.keep("1.0.order", bytes);
      t.keep("1.place", place);
      t.nextDaemon();
      if (jobs().isEmpty()) {
        none++;
        continue;
      }
      assertThat(Arrays.equals(bytes, whole)).as("seed %d", seed).isTrue();
      assertThat(figures().length()).isEqualTo(30);
      assertThat(figures().position()).isBetween(0L, 30L);
      t.open(0, 1, 2, 3, 4, 29);
    }
    assertThat(none).as("seed %d", seed).isBetween(1, 199);
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
