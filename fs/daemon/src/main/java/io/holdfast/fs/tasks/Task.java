package io.holdfast.fs.tasks;

import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.residency.Pins;
import io.holdfast.fs.tree.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task of an admin, with its progress. The client sends the names in one or more parts, and the
 * task begins with the last part. The task ends early when it is stopped, or when no client has
 * asked for its progress for a while.
 *
 * <p>Thread-safe; the monitor guards the fields that are neither final nor volatile, and is a leaf
 * lock.
 */
final class Task implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Task.class);

  /** How long a task goes on without a client that asks for its progress. */
  static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final long POLL_MILLIS = 20;

  private final long id;
  private final TaskRequest request;
  private final TaskParts parts;
  private final TaskCounts counts;
  private final List<String> waiting = new ArrayList<>();
  private final long started;
  private volatile long lastAsked;
  private volatile long ended;
  private volatile boolean stopped;
  private volatile State state = State.NAMES;
  private volatile @Nullable String error;
  private volatile FileIds missing = new FileIds();
  private boolean allNames;

  private enum State {
    /** The client sends names, or the task lists them. */
    NAMES,
    RUNNING,
    DONE,
    FAILED,
    STOPPED
  }

  /** The work of a task after the names have arrived. */
  interface Work {
    /**
     * Does the work.
     *
     * @throws FsException with one line for the user where the work cannot be done
     */
    void run(Task task) throws FsException, InterruptedException;
  }

  Task(long id, TaskRequest request, TaskParts parts) {
    this.id = id;
    this.request = request;
    this.parts = parts;
    this.counts = new TaskCounts(parts);
    this.started = parts.nanoTime().getAsLong();
    this.lastAsked = started;
  }

  long id() {
    return id;
  }

  TaskRequest request() {
    return request;
  }

  TaskParts parts() {
    return parts;
  }

  TaskCounts counts() {
    return counts;
  }

  /** Adds names; the last part begins the task. */
  synchronized void add(List<String> more, boolean last) {
    waiting.addAll(more);
    allNames |= last;
    notifyAll();
  }

  /** Records that a client has asked for the progress. */
  void asked() {
    lastAsked = parts.nanoTime().getAsLong();
  }

  private synchronized int namesWaiting() {
    return waiting.size();
  }

  void stop() {
    stopped = true;
  }

  boolean goesOn() {
    return !stopped;
  }

  boolean isOver() {
    return state == State.DONE || state == State.FAILED || state == State.STOPPED;
  }

  /** Tells whether the task is over and no client has asked for its progress for a while. */
  boolean isForgotten() {
    return isOver() && parts.nanoTime().getAsLong() - lastAsked > 2 * PATIENCE.toNanos();
  }

  /** Stops the task if no client asks for its progress any more. Called several times a second. */
  void tick() {
    boolean alone = parts.nanoTime().getAsLong() - lastAsked > PATIENCE.toNanos();
    if (!isOver() && alone && !mayGoOnAlone()) {
      stop();
    }
  }

  private synchronized boolean mayGoOnAlone() {
    return request.background() && allNames;
  }

  @Override
  public void run() {
    State end;
    try {
      TaskActions.of(request.kind()).run(this);
      end = State.DONE;
    } catch (FsException | IllegalArgumentException e) {
      end = failed(String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      end = State.STOPPED;
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
      end = failed(OutOfMemory.describe(e));
    } catch (RuntimeException | Error e) {
      log.error("{} failed", request.kind().text(), e);
      end = failed("internal error: " + e + ": see the log");
    }
    ended = parts.nanoTime().getAsLong();
    state = stopped ? State.STOPPED : end;
  }

  private State failed(String why) {
    error = why;
    return State.FAILED;
  }

  /**
   * Removes and returns the names that have arrived; waits for some. Returns none after the last
   * part.
   */
  private synchronized List<String> takeNames() throws InterruptedException {
    while (waiting.isEmpty() && !allNames && !stopped) {
      wait(POLL_MILLIS);
    }
    List<String> names = List.copyOf(waiting);
    waiting.clear();
    return names;
  }

  /**
   * Waits for all names.
   *
   * @throws IllegalArgumentException if there are too many names, or a glob is invalid
   */
  Scope scope() throws InterruptedException {
    List<String> names = new ArrayList<>();
    for (List<String> some = takeNames(); !some.isEmpty(); some = takeNames()) {
      names.addAll(some);
      if (names.size() > Pins.MOST) {
        throw new IllegalArgumentException(
            "more than " + Pins.MOST + " names: give folders, or use --glob");
      }
    }
    return new Scope(names, request.globs());
  }

  /** Waits until the dataset has been listed, as far as the origin does it. */
  void awaitListed() throws InterruptedException {
    while (!parts.isListed().getAsBoolean() && goesOn()) {
      Thread.sleep(POLL_MILLIS);
    }
  }

  /**
   * Finds the files as their names arrive, and puts them in the requested order.
   *
   * @throws FsException NOT_FOUND where a name has no files
   */
  FileIds files() throws FsException, InterruptedException {
    FileFinder finder = new FileFinder(this);
    boolean any = false;
    for (List<String> some = takeNames(); !some.isEmpty(); some = takeNames()) {
      any = true;
      for (String name : some) {
        finder.add(name);
      }
    }
    return files(finder, any);
  }

  /** Finds the files of a scope. */
  FileIds files(Scope scope) throws FsException, InterruptedException {
    FileFinder finder = new FileFinder(this);
    for (String path : scope.names().paths()) {
      finder.add(path);
    }
    return files(finder, !scope.names().paths().isEmpty());
  }

  private FileIds files(FileFinder finder, boolean named) throws FsException, InterruptedException {
    if (!request.globs().isEmpty()) {
      finder.addGlobs(request.globs());
    } else if (!named) {
      finder.add("");
    }
    FileIds files = finder.found();
    long bytes = 0;
    for (int i = 0; i < files.size(); i++) {
      Node file = parts.tree().handle(files.get(i));
      long size = file == null ? 0 : file.attributes().size();
      bytes = bytes > Long.MAX_VALUE - size ? Long.MAX_VALUE : bytes + size;
    }
    counts.total(files.size(), bytes);
    boolean fits = bytes <= parts.residency().figures().capacityBytes();
    if (request.order() == TaskRequest.Order.RANDOM
        || (request.order() == TaskRequest.Order.AUTO && !fits)) {
      files.shuffle();
    }
    running();
    return files;
  }

  void running() {
    state = State.RUNNING;
  }

  void missing(FileIds files) {
    missing = files;
  }

  /** Returns paths of missing files, from an index and at most a given number. */
  List<String> missing(int from, int most) {
    List<String> some = new ArrayList<>();
    FileIds all = missing;
    for (int i = Math.max(0, from); i < all.size() && some.size() < most; i++) {
      Node file = parts.tree().handle(all.get(i));
      some.add(file == null ? "?" : file.path().toString()); // "?": a version that has gone
    }
    return some;
  }

  /** Returns the progress as an answer for the client. */
  Map<String, Object> describe() {
    Map<String, Object> all = new LinkedHashMap<>();
    State now = state;
    all.put("id", id);
    all.put("kind", request.kind().text());
    all.put("state", now.name().toLowerCase(Locale.ROOT));
    if (error != null) {
      all.put("error", error);
    }
    long until = isOver() ? ended : parts.nanoTime().getAsLong();
    all.put("seconds", Duration.ofNanos(until - started).toMillis() / 1000.0);
    all.put("background", request.background());
    all.put("names_waiting", namesWaiting());
    counts.describe(all);
    return all;
  }
}
