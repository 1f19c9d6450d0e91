package io.holdfast.fs.client;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.units.Human;
import java.util.List;
import java.util.Map;

/**
 * What a daemon tells of a task. Immutable.
 *
 * @param all as it came
 */
public record TaskFigures(Map<String, Object> all) {
  /** What became of files, in the order in which a task goes on. */
  static final List<String> KINDS = List.of("resident", "fetched", "unfit", "other", "failed");

  public long id() {
    return number("id");
  }

  public String state() {
    return String.valueOf(all.get("state"));
  }

  boolean isRunning() {
    return state().equals("running");
  }

  boolean isDone() {
    return state().equals("done");
  }

  public boolean isOver() {
    return List.of("done", "failed", "stopped").contains(state());
  }

  /** Returns itself; fails where the task has. */
  public TaskFigures orFailure() {
    if (state().equals("failed")) {
      throw CliException.couldNot(String.valueOf(all.get("error")));
    }
    if (state().equals("stopped")) {
      throw CliException.couldNot("stopped; run it again to go on: what is in memory is skipped");
    }
    return this;
  }

  public long number(String key) {
    return all.get(key) instanceof Number number ? number.longValue() : 0;
  }

  public double seconds() {
    return all.get("seconds") instanceof Number number ? number.doubleValue() : 0;
  }

  public long of(String kind, String figure) {
    return all.get(kind) instanceof Map<?, ?> figures && figures.get(figure) instanceof Number n
        ? n.longValue()
        : 0;
  }

  /** Returns the bytes that have been dealt with. */
  long doneBytes() {
    return KINDS.stream().mapToLong(kind -> of(kind, "bytes")).sum();
  }

  /** Returns the files that have been dealt with. */
  long doneFiles() {
    return KINDS.stream().mapToLong(kind -> of(kind, "files")).sum();
  }

  /** Shows a kind: {@code 1,200 files, 12.0 GiB}; parts of a file where there are no whole ones. */
  public String text(String kind) {
    long files = of(kind, "files");
    String what = files == 0 ? Human.count(of(kind, "items"), "item") : Human.count(files, "file");
    return what + ", " + Human.bytes(of(kind, "bytes"));
  }

  /** Returns a line about files of a kind; an empty one where there are none. */
  public String line(String what, String kind) {
    return has(kind) ? what + "   " + text(kind) : "";
  }

  /** Tells whether there is anything of a kind. */
  public boolean has(String kind) {
    return of(kind, "items") > 0;
  }

  /** Returns up to ten of the files that failed, each with why. */
  public List<String> failures() {
    return all.get("failures") instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of();
  }
}
