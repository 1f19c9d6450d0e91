package io.holdfast.fs.doctor;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A daemon's answers about itself, asked once through its socket for all probes. Immutable.
 *
 * @param stats its figures; null if it did not answer
 * @param later the same a second later; null if it did not answer then
 * @param peers a row for each node of its cluster
 * @param config a row for each of its settings
 * @param trouble why it did not answer; null if it did
 */
public record Answers(
    @Nullable Map<String, Object> stats,
    @Nullable Map<String, Object> later,
    List<Map<String, Object>> peers,
    List<Map<String, Object>> config,
    @Nullable FsException trouble) {
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /**
   * Asks the daemon. Takes at most 2 s for each of four questions, and ends with the first one
   * without an answer.
   *
   * @param socket the daemon's socket
   * @param pause between the first and the second figures
   */
  public static Answers ask(Path socket, Duration pause) throws InterruptedException {
    ControlClient client = new ControlClient(socket, DEADLINE);
    Map<String, Object> stats = null;
    List<Map<String, Object>> peers = List.of();
    List<Map<String, Object>> config = List.of();
    try {
      stats = client.stats();
      config = client.config();
      peers = client.peers();
      Thread.sleep(pause.toMillis());
      return new Answers(stats, client.stats(), peers, config, null);
    } catch (FsException e) {
      return new Answers(stats, null, peers, config, e);
    }
  }

  /** Returns the last figures. */
  Optional<Figures> figures() {
    Map<String, Object> last = later == null ? stats : later;
    return Optional.ofNullable(last).map(FiguresJson::figures);
  }

  /** Returns the figures before the last, if there are two. */
  Optional<Figures> earlier() {
    return later == null || stats == null
        ? Optional.empty()
        : Optional.of(FiguresJson.figures(stats));
  }

  /** Returns the nodes of its cluster. */
  List<NodeFigures> nodes() {
    return FiguresJson.nodes(peers);
  }

  /** Returns the value of a setting as an option would give it; nothing if it is not set. */
  public Optional<String> setting(String key) {
    return config.stream()
        .filter(row -> key.equals(row.get("setting")) && row.containsKey("value"))
        .map(row -> String.valueOf(row.get("value")))
        .findFirst();
  }
}
