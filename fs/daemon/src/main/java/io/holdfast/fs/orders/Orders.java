package io.holdfast.fs.orders;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.plan.Plans;
import io.holdfast.fs.residency.Swaps;
import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.stats.JobLife;
import io.holdfast.fs.stats.OpenBatch;
import io.holdfast.fs.stats.OpenListener;
import io.holdfast.fs.transit.Item;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The orders in which jobs will read, a job's last one each. Some are found from opens, see {@link
 * LearnedOrders}. Clients announce others through the socket, in parts:
 *
 * <pre>
 * {"begin":"JOB","source":"announced"}       begins an order; the answer has its id, or "listing":true
 * {"id":3,"paths":["a","b"]}                 adds lines; none of them: more will come
 * {"id":3,"paths":[],"last":true}            the order is taken, in the place of the job's last one
 * {"begin":"JOB","then":true}                begins one that is read after the job's order
 * {"clear":"JOB"}                            forgets the job's order
 * {"plan":"JOB","seed":"7","epoch":3,...}    begins the list from which the job's next order is drawn
 * {"begin":"JOB","planned":true}             begins the order that is drawn from it
 * </pre>
 *
 * <p>Bounded by {@link #BOUNDS}. An order whose next part does not come is forgotten. Thread-safe;
 * the monitor guards the announcements, and is held while names are looked up, and while {@code
 * /proc} is asked for jobs that have ended, but not while a list is looked at for a plan. No
 * request waits for the origin.
 */
public final class Orders implements OpenListener, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Orders.class);

  /** The bounds of a daemon. */
  static final Bounds BOUNDS = new Bounds(16_000_000, 24_000_000, 32);

  /** The most characters of a job's name. */
  private static final int LONGEST_NAME = 128;

  private static final int PART_OF_HEAP = 16;

  private static final int PART_OF_HEAP_FOR_REACH = 32;

  /**
   * The bytes that {@link Order#reach()} takes for each of its places, before and behind the
   * furthest one.
   */
  private static final int BYTES_OF_REACH = 2 * 112;

  /** More files than any mount has. */
  private static final long MOST_PRINTS = 1 << 28;

  /** As many files as take the memory that a pass takes beside its files. */
  static final int FILES_OF_PASS = 100;

  /** The part of a learned pass's files that have to be there still. */
  private static final double LEAST_FOUND = 0.9;

  /** The largest number with which announcements begin: JSON's readers know all up to 2^53. */
  private static final long MOST_FIRST_ID = 1L << 52;

  private static final long PATIENCE_NANOS = Duration.ofSeconds(10).toNanos();

  /** A job that has opened no file for so long may have ended: its order makes way for others. */
  private static final long SILENCE_NANOS = Duration.ofHours(1).toNanos();

  /** The same of a job whose processes have ended: its last opens may be told after its end. */
  private static final long ENDED_NANOS = Duration.ofSeconds(10).toNanos();

  private final OrderParts parts;
  private final Bounds bounds;
  private final boolean announced;
  private final @Nullable LearnedOrders learned;
  private final Map<String, Order> orders = new ConcurrentHashMap<>();
  private final Map<Long, Announcement> arriving = new LinkedHashMap<>();
  private final KeptOrders kept;
  private final Prefetcher prefetcher;
  private final Spreading spreading;
  private final @Nullable SharedOrders shared;
  private final @Nullable Plans plans;

  /**
   * The number of the last announcement. The first is drawn: a client that announces while the
   * daemon is restarted goes on with a number of the daemon before, which no other client may have.
   */
  private long lastId = ThreadLocalRandom.current().nextLong(MOST_FIRST_ID);

  private boolean closed;

  /**
   * How much memory orders may take.
   *
   * @param lines the most lines of an order
   * @param files the most files of all orders, at 5 bytes each; a pass counts as {@link
   *     #FILES_OF_PASS} more
   * @param orders the most orders, and the most that are being announced
   */
  record Bounds(int lines, int files, int orders) {}

  /**
   * Creates the table; there is no order yet.
   *
   * @param announced whether orders may be announced
   * @param learns whether orders are found from opens
   * @param shared follows the jobs that read one order together; null if nothing does
   * @param plans plans the orders of several nodes; null if there are no other nodes
   * @param directory where announced orders are kept for the next daemon; null if there will be
   *     none
   */
  public Orders(
      OrderParts parts,
      boolean announced,
      boolean learns,
      @Nullable SharedOrders shared,
      @Nullable Plans plans,
      @Nullable Path directory) {
    this(parts, announced, learns, shared, plans, directory, BOUNDS);
  }

  /** Creates the same with other bounds. */
  Orders(
      OrderParts parts,
      boolean announced,
      boolean learns,
      @Nullable SharedOrders shared,
      @Nullable Plans plans,
      @Nullable Path directory,
      Bounds bounds) {
    this.parts = parts;
    this.shared = shared;
    this.plans = plans;
    this.bounds = bounds;
    this.announced = announced;
    this.kept = new KeptOrders(directory);
    this.learned = learns ? new LearnedOrders(mostPrints(), parts.activity()::fetchedBytes) : null;
    this.prefetcher = new Prefetcher(parts, orders::values, this::learn);
    this.spreading = new Spreading(orders::get, parts.nanoTime());
  }

  /**
   * Follows the orders that an earlier daemon of the mount has kept, from where their jobs were. To
   * be called once, before any job opens a file. Nothing is fetched before the first {@link #tick}.
   *
   * @param restarted whether there was an earlier daemon, whose jobs may be in the middle of a pass
   */
  public synchronized void resume(boolean restarted) {
    if (restarted) {
      spreading.goesOn();
    }
    if (!announced) {
      return;
    }
    try {
      kept.read().forEach(this::resume);
    } catch (RuntimeException | OutOfMemoryError e) {
      log.error("the orders of the daemon before this one are forgotten", e);
      orders.clear();
      kept.forgetAll();
    }
  }

  private void resume(KeptOrders.Kept order) {
    FileSequence pass = order.passes().get(0);
    Order resumed =
        new Order(
            OrderPlan.resumed(order.job(), order.source(), pass, order.progress()),
            parts,
            parts.patienceNanos(),
            parts.nanoTime().getAsLong(),
            this::mostReach);
    order.passes().stream().skip(1).forEach(resumed::then);
    orders.put(order.job(), resumed);
    if (shared != null && order.progress().equals(Order.Progress.NONE)) {
      shared.announced(order.job(), pass);
    }
  }

  /** Returns the swaps that spread the residents over an order that repeats. */
  public Swaps spreading() {
    return spreading;
  }

  /** Fingerprints have 4 bytes each, and take a sixteenth of the heap at most. */
  private static long mostPrints() {
    return Math.min(MOST_PRINTS, Runtime.getRuntime().maxMemory() / PART_OF_HEAP / Integer.BYTES);
  }

  private int mostReach(Order order) {
    return mostReach(
        order,
        orders.values(),
        Runtime.getRuntime().maxMemory() / PART_OF_HEAP_FOR_REACH / BYTES_OF_REACH);
  }

  /**
   * Returns how far an order may reach. Called on the thread that watches opens, so that no two
   * orders reach further at the same time.
   *
   * @param further how far all orders may reach together, beyond what each one has in any case
   */
  static int mostReach(Order order, Collection<Order> all, long further) {
    long left = further;
    for (Order each : all) {
      left -= each == order ? 0 : each.reach() - Order.NEAR;
    }
    return (int) Math.min(Order.FURTHEST, Order.NEAR + Math.max(0, left));
  }

  /**
   * Begins, feeds, takes or forgets an order, or a list from which one is drawn.
   *
   * @throws FsException with one line for the user
   */
  public Map<String, Object> request(Map<String, Object> request) throws FsException {
    Map<String, Object> answer = answer(request);
    Announcement list =
        Boolean.TRUE.equals(request.get("last")) ? takeList(request.get("id")) : null;
    return list == null ? answer : plan(list);
  }

  private synchronized Map<String, Object> answer(Map<String, Object> request) throws FsException {
    if (closed) {
      throw new FsException(FsError.UNAVAILABLE, "the mount is ending");
    }
    if (!announced) {
      throw new FsException(
          FsError.UNSUPPORTED, "this mount takes no orders; fix: mount without --orders off");
    }
    if (request.get("begin") instanceof String job) {
      boolean then = Boolean.TRUE.equals(request.get("then"));
      if (plans != null && !then && !Boolean.TRUE.equals(request.get("planned"))) {
        plans.forgetList(job);
      }
      return begin(job, "sampler".equals(request.get("source")) ? "sampler" : "announced", then);
    }
    if (request.get("plan") instanceof String job) {
      return beginPlan(job, request);
    }
    if (request.get("clear") instanceof String job) {
      kept.forget(job);
      if (plans != null) {
        plans.forget(job);
      }
      return Map.of("job", job, "cleared", orders.remove(job) != null);
    }
    Announcement order =
        request.get("id") instanceof Number id ? arriving.get(id.longValue()) : null;
    if (order == null) {
      throw new FsException(
          FsError.NOT_FOUND, "an order needs 'begin', 'clear', or the 'id' of one that arrives");
    }
    add(order, request.get("paths"));
    if (Boolean.TRUE.equals(request.get("last")) && order.sampler == null) {
      take(order);
    }
    return order.describe();
  }

  /**
   * Begins the list of files from which a sampler draws the order that is announced next, if there
   * are nodes that may plan it.
   */
  private Map<String, Object> beginPlan(String job, Map<String, Object> request)
      throws FsException {
    if (plans == null) {
      return Map.of("plan", "");
    }
    TorchSampler sampler = sampler(request);
    Map<String, Object> begun = begin(job, "sampler", false);
    if (begun.get("id") instanceof Long id) {
      arriving.get(id).sampler = sampler;
    }
    return begun;
  }

  private static TorchSampler sampler(Map<String, Object> request) throws FsException {
    try {
      return new TorchSampler(
          new BigInteger(String.valueOf(request.get("seed"))),
          number(request.get("epoch")),
          Boolean.TRUE.equals(request.get("shuffle")),
          new TorchSampler.Replica(
              number(request.get("rank")),
              number(request.get("world")),
              Boolean.TRUE.equals(request.get("drop_last"))));
    } catch (IllegalArgumentException e) {
      throw new FsException(FsError.INVALID, "no sampler of ranks: " + e.getMessage(), e);
    }
  }

  private static int number(@Nullable Object value) {
    return value instanceof Number number && number.longValue() == number.intValue()
        ? number.intValue()
        : -1;
  }

  /** Removes a list that has arrived; null if an announcement is none. */
  private synchronized @Nullable Announcement takeList(@Nullable Object id) {
    Announcement list = id instanceof Number number ? arriving.get(number.longValue()) : null;
    return list == null || list.sampler == null ? null : arriving.remove(list.id);
  }

  /** Plans a list, which takes some time; returns what the client learns of it. */
  private Map<String, Object> plan(Announcement list) {
    TorchSampler sampler = list.sampler;
    if (plans == null || sampler == null) {
      return Map.of("plan", "");
    }
    int count = list.files.size();
    String why =
        list.lines() > count
            ? "the list has names that the dataset has not"
            : plans.announce(list.job, sampler, count, list.files::get);
    return Map.of("plan", why.isEmpty() ? "offered" : why);
  }

  private Map<String, Object> begin(String job, String source, boolean then) throws FsException {
    if (job.isBlank() || job.length() > LONGEST_NAME) {
      throw new FsException(
          FsError.INVALID,
          "the name of a job has 1 to "
              + LONGEST_NAME
              + " characters: 'holdfast stats --jobs' shows them");
    }
    if (!parts.countsOpens().getAsBoolean()) {
      throw new FsException(
          FsError.UNSUPPORTED,
          "opens are not counted, so that nobody knows where a job is in its order; fix: mount"
              + " without --count-opens off");
    }
    if (!parts.isListed().getAsBoolean()) {
      return Map.of("listing", true);
    }
    forgetLate();
    if (arriving.size() >= bounds.orders) {
      throw new FsException(
          FsError.UNAVAILABLE, bounds.orders + " orders are being announced: wait for one");
    }
    Announcement order = new Announcement(++lastId, job, source, then, parts.tree());
    order.lastPart = parts.nanoTime().getAsLong();
    arriving.put(order.id, order);
    return order.describe();
  }

  private void add(Announcement order, Object paths) throws FsException {
    order.lastPart = parts.nanoTime().getAsLong();
    List<?> lines = paths instanceof List<?> list ? list : List.of();
    order.add(lines.stream().map(String::valueOf).toList());
    if (order.lines() > bounds.lines || !hasRoom(0, lessNeededThan(order.job))) {
      arriving.remove(order.id);
      throw new FsException(
          FsError.RANGE,
          order.lines() > bounds.lines
              ? "an order has at most %,d lines: announce fewer epochs at a time"
                  .formatted(bounds.lines)
              : "all orders together have at most %,d files: announce fewer epochs, or clear an order"
                  .formatted(bounds.files));
    }
  }

  /** Tells whether there may be so many more files; orders that may go make way for them. */
  private boolean hasRoom(int files, Predicate<Order> mayGo) {
    boolean some = true;
    while (some && filesInAll() + files > bounds.files) {
      some = forget(mayGo);
    }
    return some;
  }

  /** Tells whether there may be one more order; one that may go makes way for it. */
  private boolean hasRoomForOrder(Predicate<Order> mayGo) {
    return orders.size() < bounds.orders || forget(mayGo);
  }

  /** Returns which orders make way for one that is announced for a job. */
  private Predicate<Order> lessNeededThan(String job) {
    long now = parts.nanoTime().getAsLong();
    return order ->
        order.isLearned()
            || (!order.job.equals(job)
                && (order.isAbandoned()
                    || now - order.lastOpen() > SILENCE_NANOS
                    || hasEnded(order, now)));
  }

  /**
   * Tells whether the job has read in its order and has ended. Reads {@code /proc}. A job of the
   * same name may have ended before this one begins, as trials that are started again.
   */
  private boolean hasEnded(Order order, long now) {
    return order.hasBegun()
        && now - order.lastOpen() > ENDED_NANOS
        && parts.activity().life(order.job) == JobLife.ENDED;
  }

  /**
   * Forgets one of the orders that may go: a learned one first, then one whose job reads something
   * else, and of several that of the job that was active longest ago. Returns whether there was
   * one.
   */
  private boolean forget(Predicate<Order> mayGo) {
    long now = parts.nanoTime().getAsLong();
    Order first =
        orders.values().stream()
            .filter(mayGo)
            .min(
                Comparator.comparing((Order order) -> !order.isLearned())
                    .thenComparing(order -> !order.isAbandoned())
                    .thenComparing(order -> order.lastOpen() - now))
            .orElse(null);
    if (first == null || !orders.remove(first.job, first)) {
      return false;
    }
    if (!first.isLearned()) {
      if (plans != null) {
        plans.forget(first.job);
      }
      kept.forget(first.job);
      log.warn(
          "the order of job '{}' is forgotten for another one: the job does not read it now",
          first.job);
    }
    return true;
  }

  private long filesInAll() {
    long files = 0;
    for (Announcement each : arriving.values()) {
      files += each.files.size() + FILES_OF_PASS;
    }
    for (Order each : orders.values()) {
      files += each.length() + (long) FILES_OF_PASS * each.passesLeft();
    }
    return files;
  }

  private void take(Announcement order) throws FsException {
    arriving.remove(order.id);
    if (order.files.size() == 0) {
      throw new FsException(
          FsError.NOT_FOUND,
          order.lines() == 0
              ? "the order has no lines: give some"
              : "no line names a file of the dataset, such as '" + order.firstUnknown() + "'");
    }
    if (!orders.containsKey(order.job) && !hasRoomForOrder(lessNeededThan(order.job))) {
      throw new FsException(
          FsError.UNAVAILABLE, "there are " + bounds.orders + " orders: clear one with --clear");
    }
    order.files.trim();
    Order before = orders.get(order.job);
    if (order.then && before != null && !before.isLearned()) {
      before.then(order.files);
      kept.then(order.job, order.files);
      if (plans != null) {
        plans.goesOn(order.job, before.planned);
      }
      return;
    }
    long now = parts.nanoTime().getAsLong();
    boolean soon = before != null && before.isRead(now);
    Order taken =
        new Order(
            OrderPlan.announced(order.job, order.source, order.files, soon),
            parts,
            parts.patienceNanos(),
            now,
            this::mostReach);
    if (before != null) {
      taken.follow(before);
    }
    taken.planned = plans == null ? 0 : plans.ordered(order.job);
    orders.put(order.job, taken);
    kept.keep(order.job, order.source, order.files);
    if (shared != null) {
      shared.announced(order.job, order.files);
    }
    if (learned != null) {
      learned.followed(order.job);
    }
    prefetcher.start();
    prefetcher.wake();
  }

  private void forgetLate() {
    long now = parts.nanoTime().getAsLong();
    arriving.values().removeIf(order -> now - order.lastPart > PATIENCE_NANOS);
  }

  /** Follows a job in its order. Called on the thread that watches opens: waits for nothing. */
  @Override
  public void opened(String job, int thread, OpenBatch batch) {
    spreading.opened(job);
    Order order = orders.get(job);
    if (order != null) {
      follow(order, thread, batch);
    } else if (learned != null) {
      record(learned, job, thread, batch);
    }
    if (shared != null) {
      shared.opened(job, thread, batch); // last: what is let go must not be fetched ahead again
    }
  }

  private void record(LearnedOrders recording, String job, int thread, OpenBatch batch) {
    try {
      Order order;
      boolean found;
      synchronized (recording) { // the job may just have got an order
        order = orders.get(job);
        found = order == null && recording.opened(job, batch);
      }
      if (order != null) {
        follow(order, thread, batch);
      } else if (found) {
        prefetcher.start();
        prefetcher.wake();
      }
    } catch (RuntimeException e) {
      prefetcher.failed(e);
    }
  }

  private void follow(Order order, int thread, OpenBatch batch) {
    try {
      for (int i = 0; i < batch.count(); i++) {
        PredictedFile found = order.opened(thread, batch.file(i));
        Item item = found == null ? null : parts.missing(found.id);
        if (item != null) {
          parts.residency().noteRead(item);
        }
      }
      order.noteOpen(parts.nanoTime().getAsLong());
      if (plans != null && order.planned != 0) {
        plans.opened(order.job, order.planned, order.place());
      }
      if (order.isOver() && orders.remove(order.job, order) && learned != null) {
        learned.ended(order.figures());
      }
      prefetcher.wake();
    } catch (RuntimeException e) {
      if (orders.remove(order.job, order) && plans != null) {
        plans.forget(order.job);
      }
      prefetcher.failed(e);
    }
  }

  /**
   * Makes an order of a pass that a job has begun to read again, which takes some time.
   *
   * @return whether there are others to be made later
   */
  private boolean learn() {
    if (learned == null) {
      return false;
    }
    long began = parts.nanoTime().getAsLong();
    LearnedOrders.Found found = learned.poll(began);
    if (found != null && !orders.containsKey(found.job())) {
      FileSequence files = found.join(this::forEachFile);
      learned.looked(began, parts.nanoTime().getAsLong());
      if (files.size() >= LEAST_FOUND * found.pass().size()) {
        follow(found, files);
      }
    }
    return learned.hasFound();
  }

  private void forEachFile(LearnedOrders.FileTaker taker) {
    parts
        .tree()
        .forEach(
            node -> {
              if (node.attributes().isRegular()) {
                taker.take(node.id(), node.inode());
              }
            });
  }

  private synchronized void follow(LearnedOrders.Found found, FileSequence files) {
    String job = found.job();
    if (closed
        || learned == null
        || orders.containsKey(job)
        || !hasRoomForOrder(Order::isLearned)
        || !hasRoom(files.size() + FILES_OF_PASS, Order::isLearned)) {
      return;
    }
    // no open is lost between the recorder and the order, or its reader would be far from its place
    synchronized (learned) {
      Order order =
          new Order(
              OrderPlan.learned(job, files, learned.position(job), found.pass().fetchedBytes()),
              parts,
              parts.patienceNanos(),
              parts.nanoTime().getAsLong(),
              this::mostReach);
      if (found.own()) {
        order.repeats(learned.opened(job));
      }
      orders.put(job, order);
      learned.followed(job);
    }
  }

  /** Returns the figures of all orders, and the last ones of learned orders that have ended. */
  public List<OrderFigures> figures() {
    Map<String, OrderFigures> all = new TreeMap<>();
    if (learned != null) {
      learned.ended().forEach(each -> all.put(each.job(), each));
    }
    orders.values().forEach(each -> all.put(each.job, each.figures()));
    return List.copyOf(all.values());
  }

  /** Returns how many orders are followed. */
  int active() {
    return orders.size();
  }

  /** Tells whether files are still looked at; for a test, after {@link #close}. */
  boolean isAtWork() {
    return prefetcher.isRunning();
  }

  /**
   * Forgets orders whose next part did not come, and keeps the places of jobs. Called every second
   * once the residents are there.
   */
  public synchronized void tick() {
    forgetLate();
    if (!announced) {
      kept.forgetAll(); // an earlier daemon has left them; this one is sure to stay by now
      return;
    }
    if (!orders.isEmpty()) {
      prefetcher.start();
    }
    List<Order> toKeep = orders.values().stream().filter(order -> !order.isLearned()).toList();
    kept.retain(toKeep.stream().map(order -> order.job).collect(Collectors.toSet()));
    toKeep.forEach(order -> kept.progress(order.job, order.progress()));
  }

  /** Ends all fetches ahead; does not wait for them. */
  @Override
  public synchronized void close() {
    closed = true;
    orders.clear();
    arriving.clear();
    prefetcher.close();
  }
}
