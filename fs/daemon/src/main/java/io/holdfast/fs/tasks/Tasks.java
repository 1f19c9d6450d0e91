package io.holdfast.fs.tasks;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.residency.Pins;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The tasks of a daemon. Clients begin and follow them through the socket:
 *
 * <pre>
 * {"begin":"warm","paths":["train"],"last":true}    begins a task; the answer is its progress
 * {"begin":"warm","last":false}                     begins a task; more names follow
 * {"id":3,"paths":["a","b"],"last":true}            adds names
 * {"id":3}                                          returns the progress
 * {"id":3,"stop":true}                              stops the task
 * {"id":3,"missing_from":0}                         returns missing files of a check, a page at a time
 * {"stop":true}                                     stops all tasks
 * {"pins":true}                                     returns the names that are pinned
 * </pre>
 *
 * <p>A request to begin has {@code begin} (warm, check, pin, unpin, drop, capacity), {@code globs},
 * {@code order} (list, name, random), {@code threads}, {@code background}, {@code force} and {@code
 * size}. Thread-safe; the monitor guards the table of tasks. No request waits for a task.
 */
public final class Tasks implements AutoCloseable {
  /** Most tasks that run at once. */
  static final int MOST = 8;

  /** Most missing files in an answer. */
  static final int MISSING_PAGE = 500;

  private final TaskParts parts;
  private final Map<Long, Task> tasks = new LinkedHashMap<>();
  private long lastId;
  private boolean closed;

  /** Creates the table; no task runs yet. */
  public Tasks(TaskParts parts) {
    this.parts = parts;
  }

  /**
   * Begins, feeds, stops or follows a task.
   *
   * @return the task's progress
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
    parts.threads().newThread(task).start(); // first: there may be no thread
    tasks.put(task.id(), task);
    return task;
  }

  /** Rejects paths that lead out of the dataset. */
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

  /** Returns the running tasks, for the statistics. */
  public synchronized List<Map<String, Object>> running() {
    List<Map<String, Object>> all = new ArrayList<>();
    tasks.values().stream()
        .filter(task -> !task.isOver())
        .forEach(task -> all.add(task.describe()));
    return all;
  }

  /** Stops tasks that no client follows any more. Called several times a second. */
  public synchronized void tick() {
    tasks.values().forEach(Task::tick);
    tasks.values().removeIf(Task::isForgotten);
  }

  /** Stops all tasks; does not wait for them. */
  @Override
  public synchronized void close() {
    closed = true;
    tasks.values().forEach(Task::stop);
  }
}
