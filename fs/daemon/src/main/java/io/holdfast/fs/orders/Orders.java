package io.holdfast.fs.orders;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.stats.OpenBatch;
import io.holdfast.fs.stats.OpenListener;
import io.holdfast.fs.transit.Item;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The orders in which jobs will read, a job's last one each. Clients announce them through the
 * socket, in parts:
 *
 * <pre>
 * {"begin":"JOB","source":"announced"}       begins an order; the answer has its id, or "listing":true
 * {"id":3,"paths":["a","b"]}                 adds lines
 * {"id":3,"paths":[],"last":true}            the order is taken, in the place of the job's last one
 * {"clear":"JOB"}                            forgets the job's order
 * </pre>
 *
 * <p>Bounded: {@link #MOST_LINES} lines an order and {@link #MOST_IN_ALL} in all, {@link
 * #MOST_ORDERS} orders. An order whose next part does not come is forgotten. Thread-safe; the
 * monitor guards the announcements, and is held while names are looked up. No request waits for the
 * origin.
 */
public final class Orders implements OpenListener, AutoCloseable {
  /** The most lines of an order. */
  static final int MOST_LINES = 16_000_000;

  /** The most files of all orders, at 5 bytes each. */
  static final int MOST_IN_ALL = 24_000_000;

  /** The most orders, and the most that are being announced. */
  static final int MOST_ORDERS = 32;

  /** The most characters of a job's name. */
  private static final int LONGEST_NAME = 128;

  private static final long PATIENCE_NANOS = Duration.ofSeconds(10).toNanos();

  private final OrderParts parts;
  private final Map<String, Order> orders = new ConcurrentHashMap<>();
  private final Map<Long, Announcement> arriving = new LinkedHashMap<>();
  private final Prefetcher prefetcher;
  private long lastId;
  private boolean closed;

  /** Creates the table; there is no order yet. */
  public Orders(OrderParts parts) {
    this.parts = parts;
    this.prefetcher = new Prefetcher(parts, orders::values);
  }

  /**
   * Begins, feeds, takes or forgets an order.
   *
   * @throws FsException with one line for the user
   */
  public synchronized Map<String, Object> request(Map<String, Object> request) throws FsException {
    if (closed) {
      throw new FsException(FsError.UNAVAILABLE, "the mount is ending");
    }
    if (request.get("begin") instanceof String job) {
      return begin(job, "sampler".equals(request.get("source")) ? "sampler" : "announced");
    }
    if (request.get("clear") instanceof String job) {
      return Map.of("job", job, "cleared", orders.remove(job) != null);
    }
    Announcement order =
        request.get("id") instanceof Number id ? arriving.get(id.longValue()) : null;
    if (order == null) {
      throw new FsException(
          FsError.NOT_FOUND, "an order needs 'begin', 'clear', or the 'id' of one that arrives");
    }
    add(order, request.get("paths"));
    if (Boolean.TRUE.equals(request.get("last"))) {
      take(order);
    }
    return order.describe();
  }

  private Map<String, Object> begin(String job, String source) throws FsException {
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
              + " without --count-opens no");
    }
    if (!parts.isListed().getAsBoolean()) {
      return Map.of("listing", true);
    }
    forgetLate();
    if (arriving.size() >= MOST_ORDERS) {
      throw new FsException(
          FsError.UNAVAILABLE, MOST_ORDERS + " orders are being announced: wait for one");
    }
    Announcement order = new Announcement(++lastId, job, source, parts.tree());
    order.lastPart = parts.nanoTime().getAsLong();
    arriving.put(order.id, order);
    return order.describe();
  }

  private void add(Announcement order, Object paths) throws FsException {
    order.lastPart = parts.nanoTime().getAsLong();
    List<?> lines = paths instanceof List<?> list ? list : List.of();
    order.add(lines.stream().map(String::valueOf).toList());
    if (order.lines() > MOST_LINES || filesInAll() > MOST_IN_ALL) {
      arriving.remove(order.id);
      throw new FsException(
          FsError.RANGE,
          order.lines() > MOST_LINES
              ? "an order has at most %,d lines: announce one epoch at a time".formatted(MOST_LINES)
              : "all orders together have at most %,d files: clear one".formatted(MOST_IN_ALL));
    }
  }

  private long filesInAll() {
    long files = 0;
    for (Announcement each : arriving.values()) {
      files += each.files.size();
    }
    for (Order each : orders.values()) {
      files += each.length();
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
    if (!orders.containsKey(order.job) && orders.size() >= MOST_ORDERS) {
      throw new FsException(
          FsError.UNAVAILABLE, "there are " + MOST_ORDERS + " orders: clear one with --clear");
    }
    orders.put(
        order.job,
        new Order(
            order.job,
            order.source,
            order.files,
            parts,
            parts.patienceNanos(),
            parts.nanoTime().getAsLong()));
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
    Order order = orders.isEmpty() ? null : orders.get(job);
    if (order == null) {
      return;
    }
    try {
      for (int i = 0; i < batch.count(); i++) {
        PredictedFile found = order.opened(thread, batch.file(i));
        Item item = found == null ? null : parts.missing(found.id);
        if (item != null) {
          parts.residency().noteRead(item);
        }
      }
      prefetcher.wake();
    } catch (RuntimeException e) {
      orders.remove(job, order);
      prefetcher.failed(e);
    }
  }

  /** Returns the figures of all orders. */
  public List<OrderFigures> figures() {
    Collection<Order> all = orders.values();
    return all.stream().map(Order::figures).sorted((a, b) -> a.job().compareTo(b.job())).toList();
  }

  /** Forgets orders whose next part did not come. Called several times a second. */
  public synchronized void tick() {
    forgetLate();
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
