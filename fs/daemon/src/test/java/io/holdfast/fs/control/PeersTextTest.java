package io.holdfast.fs.control;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class PeersTextTest {
  private static final String PEERS =
      """
      [ { "node": "10.0.0.1:7070", "dataset": "imagenet", "state": "self", "since": "",
          "capacity_bytes": 400000000000, "resident_bytes": 390000000000, "share": 0.5,
          "items_in": 0, "bytes_in": 0, "items_out": 0, "bytes_out": 0, "errors": 0,
          "p50_us": 0, "p99_us": 0 },
        { "node": "node2:7070", "dataset": "imagenet", "state": "suspect",
          "since": "2026-01-02T03:04:05Z", "capacity_bytes": 400000000000, "resident_bytes": -1,
          "share": 0.5, "items_in": 12, "bytes_in": 1200000, "items_out": 5, "bytes_out": 500000,
          "errors": 1234, "p50_us": 350, "p99_us": 12345 } ]
      """;

  @Test
  void of_nodes_areAligned() throws IOException {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Object row : JSON.std.listFrom(PEERS)) {
      rows.add(JSON.std.mapFrom(JSON.std.asString(row)));
    }
    assertThat(PeersText.of(FiguresJson.nodes(rows)))
        .isEqualTo(
            """
            node           state    since                 capacity  resident  share  in        out      errors  p50     p99
            10.0.0.1:7070  self     -                     373 GiB   363 GiB   0.50   0 B       0 B      0       -       -
            node2:7070     suspect  2026-01-02T03:04:05Z  373 GiB   -         0.50   1.14 MiB  488 KiB  1,234   350 us  12.3 ms
            """);
  }

  @Test
  void of_nodeWithAnotherDataset_tellsWhatDiffers() {
    String text =
        PeersText.of(
            FiguresJson.nodes(
                List.of(
                    Map.of("node", "a:1", "state", "self", "difference", ""),
                    Map.of(
                        "node", "b:1", "state", "other dataset", "difference", "3 of 4 differ"))));
    assertThat(text)
        .endsWith("\n\nb:1: nothing is shared with it: 3 of 4 differ\n")
        .hasLineCount(5);
  }

  @Test
  void of_noPeers_tellsHowToHaveSome() {
    assertThat(PeersText.of(List.of())).contains("--listen").hasLineCount(1);
  }
}
