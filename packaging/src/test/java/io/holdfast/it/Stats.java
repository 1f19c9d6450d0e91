package io.holdfast.it;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The figures of a mount at one moment, by their paths: {@code fetches.origin.items}. */
public final class Stats {
  private final Map<String, Object> values;
  private final String text;

  private Stats(Map<String, Object> values, String text) {
    this.values = values;
    this.text = text;
  }

  public static Stats parse(String json) {
    try {
      return new Stats(JSON.std.mapFrom(json), json);
    } catch (IOException e) {
      throw new AssertionError("not JSON: " + json, e);
    }
  }

  /** The figures in an answer of the control socket. */
  public static Stats ofAnswer(String json) {
    if (!(parse(json).at("stats") instanceof Map<?, ?> figures)) {
      throw new AssertionError("no figures: " + json);
    }
    return new Stats(map(figures), json);
  }

  /** The value at a path of keys, null when there is none. */
  public @Nullable Object at(String path) {
    Object value = values;
    for (String key : path.split("\\.", -1)) {
      if (!(value instanceof Map<?, ?> map)) {
        return null;
      }
      value = map.get(key);
    }
    return value;
  }

  /** The number at a path; an error when there is none. */
  public long number(String path) {
    Object value = at(path);
    if (value instanceof Number number) {
      return number.longValue();
    }
    throw new AssertionError("no number at " + path + ": " + value + " in " + text);
  }

  /** The opens counted for a process; 0 when there are none. */
  public long opensOf(long pid) {
    return processes().stream()
        .filter(process -> process.number("pid") == pid)
        .mapToLong(process -> process.number("opens"))
        .sum();
  }

  public List<Stats> processes() {
    return list("processes");
  }

  /** The objects of a list at a path. */
  public List<Stats> list(String path) {
    if (!(at(path) instanceof List<?> list)) {
      throw new AssertionError("no list at " + path + " in " + text);
    }
    return list.stream().map(each -> new Stats(map(each), text)).toList();
  }

  private static Map<String, Object> map(@Nullable Object value) {
    Map<String, Object> values = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach((key, each) -> values.put(String.valueOf(key), each));
    }
    return values;
  }

  /** How many requests of a kind reached the daemon; 0 when it never saw one. */
  public long requests(String opcode) {
    return at("kernel.requests." + opcode) instanceof Number n ? n.longValue() : 0;
  }

  /**
   * Returns a figure of the fetches from a peer: {@code items}, {@code bytes} or {@code errors}; 0
   * for a peer that was never asked.
   */
  public long ofPeer(String address, String figure) {
    return at("fetches.peer.by_node") instanceof Map<?, ?> nodes
            && nodes.get(address) instanceof Map<?, ?> figures
            && figures.get(figure) instanceof Number n
        ? n.longValue()
        : 0;
  }

  public long originItems() {
    return number("fetches.origin.items");
  }

  public long residentBytes() {
    return number("cache.resident_bytes");
  }

  public long residentItems() {
    return number("cache.resident_items");
  }

  @Override
  public String toString() {
    return text;
  }
}
