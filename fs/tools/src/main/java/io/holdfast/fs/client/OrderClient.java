package io.holdfast.fs.client;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.sampler.TorchSampler;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Announces the order of a job to a daemon. Keeps one request in memory. While a program that
 * prints the order is silent, a thread tells the daemon that more lines will come. Not thread-safe.
 */
public final class OrderClient {
  /** What {@link #plan} returns for a list that is planned. */
  public static final String OFFERED = "offered";

  private static final Duration DEADLINE = Duration.ofSeconds(10);

  /** A request has 64 KiB at most; a line of 4096 bytes may be escaped in six bytes each. */
  private static final int BATCH_BYTES = 36 * 1024;

  private static final long POLL_MILLIS = 100;

  /**
   * The pause between parts without lines. The daemon forgets an order without parts after 10 s.
   */
  private static final long KEEP_MILLIS = 1000;

  private final OwnProcess process;
  private final DaemonClient daemon;
  private final String below;

  public OrderClient(OwnProcess process, RunningDaemon daemon) {
    this.process = process;
    this.daemon = new DaemonClient(daemon, DEADLINE);
    this.below = daemon.mountpoint() + "/";
  }

  /** Forgets the order of a job. */
  public Map<String, Object> clear(String job) {
    return daemon.order(Map.of("clear", job));
  }

  /**
   * Announces an order; waits until the daemon knows the names of the dataset.
   *
   * @param then whether the order comes after the job's last one, and not in its place
   * @param lines paths below the mountpoint, or relative to it
   * @return what the daemon knows of the order
   */
  public Map<String, Object> announce(
      String job, String source, boolean then, Iterator<String> lines) {
    return announce(Map.of("begin", job, "source", source, "then", then), lines);
  }

  /** Announces the order that is drawn from the job's last {@linkplain #plan list}. */
  public Map<String, Object> announcePlanned(String job, Iterator<String> lines) {
    return announce(Map.of("begin", job, "source", "sampler", "planned", true), lines);
  }

  private Map<String, Object> announce(Map<String, Object> begin, Iterator<String> lines) {
    Map<String, Object> order = daemon.order(begin);
    while (Boolean.TRUE.equals(order.get("listing"))) {
      if (!process.pause(POLL_MILLIS)) {
        throw CliException.couldNot("interrupted while the dataset is still being listed");
      }
      order = daemon.order(begin);
    }
    if (order.get("id") == null) {
      return order; // it is not wanted
    }
    Object id = order.get("id");
    ScheduledThreadPoolExecutor keeper =
        new ScheduledThreadPoolExecutor(1, new NamedThreads("order-keeper"));
    ScheduledFuture<?> unused =
        keeper.scheduleWithFixedDelay(
            () -> send(id, List.of(), false), KEEP_MILLIS, KEEP_MILLIS, TimeUnit.MILLISECONDS);
    try {
      do {
        List<String> some = batch(lines); // waits for the program that prints them
        order = send(id, some, !lines.hasNext());
      } while (lines.hasNext());
    } finally {
      keeper.shutdown();
    }
    order.remove("id");
    return order;
  }

  /**
   * Announces the list from which a sampler of ranks draws the order that is announced next, so
   * that nodes can plan together.
   *
   * @param lines the dataset, in the order of its indices
   * @return whether it is planned; empty if there are no other nodes, and what the daemon says if
   *     it refuses the list: it may take the order all the same
   */
  public String plan(
      String job, TorchSampler sampler, TorchSampler.Replica replica, Iterator<String> lines) {
    Map<String, Object> list = new LinkedHashMap<>();
    list.put("plan", job);
    list.put("seed", sampler.seed().toString());
    list.put("epoch", sampler.epoch());
    list.put("shuffle", sampler.shuffle());
    list.put("world", replica.world());
    list.put("rank", replica.rank());
    list.put("drop_last", replica.dropLast());
    try {
      return String.valueOf(announce(list, lines).getOrDefault("plan", ""));
    } catch (CliException e) {
      if (e.getCause() instanceof FsException refusal && refusal.code() == FsError.IO) {
        return e.getMessage(); // such as a list that is too long
      }
      throw e;
    }
  }

  private Map<String, Object> send(Object id, List<String> paths, boolean last) {
    return new LinkedHashMap<>(daemon.order(Map.of("id", id, "paths", paths, "last", last)));
  }

  private List<String> batch(Iterator<String> lines) {
    List<String> batch = new ArrayList<>();
    int bytes = 0;
    while (bytes < BATCH_BYTES && lines.hasNext()) {
      String path = path(lines.next());
      bytes += escapedBytes(path);
      batch.add(path);
    }
    return batch;
  }

  /** Returns the path as the daemon wants it. A path outside of the mount is no file of it. */
  private String path(String line) {
    String path = line.startsWith(below) ? line.substring(below.length()) : line;
    if (path.startsWith(".") || path.contains("//") || path.contains("/.")) {
      try {
        return Path.of(path).normalize().toString();
      } catch (InvalidPathException e) {
        return path; // and the daemon does not know it
      }
    }
    return path;
  }

  /** Returns at most how many bytes of JSON a text takes. */
  private static int escapedBytes(String text) {
    int bytes = 3;
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      bytes += letter < ' ' ? 6 : letter == '"' || letter == '\\' ? 2 : letter < 0x80 ? 1 : 3;
    }
    return bytes;
  }
}
