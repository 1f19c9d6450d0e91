package io.holdfast.monitoring;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.metrics.Exposition;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures of a node with peers and jobs, as it would tell them. Immutable. */
final class FiguresFile {
  static final String STATS = "stats.json";
  static final String PEERS = "peers.json";

  private final Map<String, Object> all;

  /**
   * A figure in the file.
   *
   * @param path keys, and numbers of rows
   */
  record Leaf(List<Object> path, Object value) {}

  private FiguresFile(Map<String, Object> all) {
    this.all = all;
  }

  static FiguresFile read() throws IOException {
    try (InputStream json = FiguresFile.class.getResourceAsStream("figures.json")) {
      return new FiguresFile(JSON.std.mapFrom(json));
    }
  }

  /** Returns what a scrape of that node would give. */
  Scrape scrape() {
    Figures figures = FiguresJson.figures((Map<?, ?>) all.get(STATS));
    List<Map<?, ?>> rows = new ArrayList<>();
    ((List<?>) all.get(PEERS)).forEach(row -> rows.add((Map<?, ?>) row));
    List<NodeFigures> nodes = FiguresJson.nodes(rows);
    byte[] text = new Exposition("data-imagenet", () -> figures, () -> nodes).text();
    return Scrape.parse(new String(text, StandardCharsets.UTF_8));
  }

  /** Returns all figures, in the order of the file. */
  List<Leaf> leaves() {
    List<Leaf> leaves = new ArrayList<>();
    add(leaves, List.of(), all);
    return leaves;
  }

  private static void add(List<Leaf> leaves, List<Object> path, Object value) {
    if (value instanceof Map<?, ?> map) {
      map.forEach((key, each) -> add(leaves, with(path, key), each));
    } else if (value instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        add(leaves, with(path, i), list.get(i));
      }
    } else {
      leaves.add(new Leaf(path, value));
    }
  }

  static List<Object> with(List<Object> path, Object step) {
    List<Object> longer = new ArrayList<>(path);
    longer.add(step);
    return longer;
  }

  /** Returns what a path leads to. */
  Object at(List<Object> path) {
    Object at = all;
    for (Object step : path) {
      at = at instanceof List<?> list ? list.get((Integer) step) : ((Map<?, ?>) at).get(step);
    }
    return at;
  }

  /** Returns the same with another value of one figure. */
  FiguresFile changed(Leaf leaf) {
    return new FiguresFile(asMap(changed(all, leaf.path(), another(leaf.value()))));
  }

  private static Object another(Object value) {
    if (value instanceof Boolean is) {
      return !is;
    }
    return value instanceof Number number ? number.doubleValue() + 1 : value + "-changed";
  }

  private static Object changed(Object at, List<Object> path, Object value) {
    if (path.isEmpty()) {
      return value;
    }
    List<Object> rest = path.subList(1, path.size());
    if (at instanceof List<?> list) {
      List<Object> copy = new ArrayList<>(list);
      int row = (Integer) path.get(0);
      copy.set(row, changed(copy.get(row), rest, value));
      return copy;
    }
    Map<String, Object> copy = asMap(at);
    copy.put((String) path.get(0), changed(copy.get(path.get(0)), rest, value));
    return copy;
  }

  private static Map<String, Object> asMap(Object map) {
    Map<String, Object> copy = new LinkedHashMap<>();
    ((Map<?, ?>) map).forEach((key, value) -> copy.put((String) key, value));
    return copy;
  }
}
