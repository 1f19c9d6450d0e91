package io.holdfast.fs.tasks;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.residency.Pins;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The tasks of a daemon, as they are asked for and followed through its socket:
 *
 * <pre>
 * {"begin":"warm","paths":["train"],"last":true}    begins a task; it is told how far it has come
 * {"begin":"warm","last":false}                     likewise, whose names follow
 * {"id":3,"paths":["a","b"],"last":true}            more names for it
 * {"id":3}                                          how far it has come
 * {"id":3,"stop":true}                              ends it
 * {"id":3,"missing_from":0}                         what a check found missing, some at a time
 * {"stop":true}                                     ends all that go on
 * {"pins":true}                                     what is pinned by name
 * </pre>
 *
 * <p>Beginning one takes {@code begin} (warm, check, pin, unpin, drop, capacity), {@code globs},
 * {@code order} (list, name, random), {@code threads}, {@code background}, {@code force} and {@code
 * size}. Thread-safe; the monitor guards the table of tasks. No request waits for a task.
 */
public final class Tasks implements AutoCloseable {
  /** How many may run at once. */
  static final int MOST = 8;

  /** How many missing files are named at a time. */
  static final int MISSING_PAGE = 500;

  private final TaskParts parts;
  private final Map<Long, Task> tasks = new LinkedHashMap<>();
  private long lastId;
  private boolean closed;

  /** Creates it; nothing runs yet. */
  public Tasks(TaskParts parts) {
    this.parts = parts;
  }

  /**
   * Begins, feeds, stops or asks after a task.
   *
   * @return how far it has come
   * @throws FsException with one line for the user
   */
  public Map<String, Object> request(Map<String, Object> request) throws FsException {
    if (request.containsKey("begin")) {
      return begin(request).describe();
    }
    if (Boolean.TRUE.equals(request.get("pins"))) {
      Pins.Names names = parts.residency().pins().names();
      return Map.of("paths", names.paths(), "globs", names.globs());
    }
    if (!request.containsKey("id")) {
      return stopAll(request);
    }
    Task task = find(request.get("id"));
    task.asked();
    if (Boolean.TRUE.equals(request.get("stop"))) {
      task.stop();
    }
    List<String> paths = paths(request);
    if (!paths.isEmpty() || request.containsKey("last")) {
      task.add(paths, Boolean.TRUE.equals(request.get("last")));
    }
    Map<String, Object> answer = task.describe();
    if (request.get("missing_from") instanceof Number from) {
      answer.put("missing_paths", task.missing(from.intValue(), MISSING_PAGE));
    }
    return answer;
  }

  private synchronized Task begin(Map<String, Object> request) throws FsException {
    tasks.values().removeIf(Task::isForgotten);
    if (closed) {
      throw new FsException(FsError.UNAVAILABLE, "the mount is ending");
    }
    if (tasks.values().stream().filter(task -> !task.isOver()).count() >= MOST) {
      throw new FsException(
          FsError.UNAVAILABLE, MOST + " tasks are under way: wait for one, or stop one");
    }
    Task task = new Task(++lastId, TaskRequest.of(request), parts);
    task.add(paths(request), !Boolean.FALSE.equals(request.get("last")));
    tasks.put(task.id(), task);
    parts.threads().newThread(task).start();
    return task;
  }

  /** What leads out of the dataset is not in it. */
  private static List<String> paths(Map<String, Object> request) throws FsException {
    List<String> paths = TaskRequest.texts(request, "paths");
    for (String path : paths) {
      if (path.startsWith("/") || List.of(path.split("/", -1)).contains("..")) {
        throw new FsException(FsError.INVALID, "'" + path + "' is not below the dataset's root");
      }
    }
    return paths;
  }

  private synchronized Task find(Object id) throws FsException {
    Task task = id instanceof Number number ? tasks.get(number.longValue()) : null;
    if (task == null) {
      throw new FsException(FsError.NOT_FOUND, "there is no task " + id + " any more");
    }
    return task;
  }

  private synchronized Map<String, Object> stopAll(Map<String, Object> request) throws FsException {
    if (!Boolean.TRUE.equals(request.get("stop"))) {
      throw new FsException(FsError.INVALID, "a task needs 'begin' or 'id'");
    }
    List<Task> running = tasks.values().stream().filter(task -> !task.isOver()).toList();
    running.forEach(Task::stop);
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("stopped", running.size());
    return answer;
  }

  /** Returns what goes on, for the statistics. */
  public synchronized List<Map<String, Object>> running() {
    List<Map<String, Object>> all = new ArrayList<>();
    tasks.values().stream()
        .filter(task -> !task.isOver())
        .forEach(task -> all.add(task.describe()));
    return all;
  }

  /** Ends what nobody asks after; to be called several times a second. */
  public synchronized void tick() {
    tasks.values().forEach(Task::tick);
    tasks.values().removeIf(Task::isForgotten);
  }

  /** Ends all tasks, early; does not wait for them. */
  @Override
  public synchronized void close() {
    closed = true;
    tasks.values().forEach(Task::stop);
  }
}
