package io.holdfast.fs.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.control.FiguresJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests of {@link Exposition}; the form of the text is checked on real mounts, too. */
final class ExpositionTest {
  private static final String STATS =
      """
      { "version": "1.2", "origin": "/data/a \\"b\\"", "mountpoint": "/data/a",
        "cache": { "policy": "minio", "pin": "hard", "resident_bytes": 4096 },
        "kernel": { "binding": "kernel", "ioctl": "message", "opens": "fanotify", "requests": { "READ": 3 } },
        "fetches": { "origin": { "durations":
          { "count": 10, "seconds": 2.5, "up_to": { "1.0": 9, "0.001": 4, "60.0": 10 } } } },
        "jobs": { "by": "cgroup", "jobs": [ { "job": "/slurm/job_7", "opens": 12, "epoch": 2 } ] } }
      """;

  @Test
  void text_ofFigures_hasTypeMeaningAndValue() throws IOException {
    assertThat(text(JSON.std.mapFrom(STATS), List.of()))
        .contains("# TYPE holdfast_cache_resident_bytes gauge\n")
        .contains("# HELP holdfast_cache_resident_bytes What residents take, in whole pages.\n")
        .contains("holdfast_cache_resident_bytes{mount=\"m\"} 4096.0\n")
        .contains("# TYPE holdfast_kernel_requests_total counter\n")
        .contains("holdfast_kernel_requests_total{mount=\"m\",opcode=\"READ\"} 3.0\n")
        .contains("holdfast_job_opens_total{job_name=\"/slurm/job_7\",mount=\"m\"} 12.0\n");
  }

  @Test
  void text_ofTheMount_hasItsNamesAsLabels() throws IOException {
    assertThat(text(JSON.std.mapFrom(STATS), List.of()))
        .contains(
            "holdfast_mount_info{binding=\"kernel\",ioctl=\"message\",mount=\"m\",mountpoint=\"/data/a\","
                + "opens=\"fanotify\",origin=\"/data/a \\\"b\\\"\",pin=\"hard\",policy=\"minio\"} 1\n");
  }

  @Test
  void text_ofDurations_isAHistogram() throws IOException {
    String name = "holdfast_origin_fetch_duration_seconds";
    assertThat(text(JSON.std.mapFrom(STATS), List.of()))
        .contains("# TYPE " + name + " histogram\n")
        .contains(name + "_bucket{mount=\"m\",le=\"0.001\"} 4\n")
        .contains(name + "_bucket{mount=\"m\",le=\"1.0\"} 9\n")
        .contains(name + "_bucket{mount=\"m\",le=\"+Inf\"} 10\n")
        .contains(name + "_sum{mount=\"m\"} 2.5\n")
        .contains(name + "_count{mount=\"m\"} 10\n");
  }

  @Test
  void text_ofPeers_hasOneSeriesANode() {
    List<Map<String, Object>> peers =
        List.of(
            Map.of("node", "a:1", "state", "self"),
            Map.of("node", "b:1", "state", "up", "bytes_in", 5, "p50_us", 1000, "p99_us", 2000));
    assertThat(text(Map.of(), peers))
        .contains("holdfast_peer_state{mount=\"m\",node=\"a:1\",state=\"self\"} 1.0\n")
        .contains("holdfast_peer_received_bytes_total{mount=\"m\",node=\"b:1\"} 5.0\n")
        .contains(
            "holdfast_peer_fetch_duration_seconds{mount=\"m\",node=\"b:1\",quantile=\"0.99\"}"
                + " 0.002\n");
  }

  @Test
  void text_ofVeryManyJobs_isBounded() {
    List<Map<String, Object>> jobs = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      jobs.add(Map.of("job", "job" + i, "opens", 1));
    }
    String text = text(Map.of("jobs", Map.of("jobs", jobs)), List.of());
    assertThat(text.lines().filter(line -> line.startsWith("holdfast_job_opens_total{")))
        .hasSize(Exposition.MOST_LABELS + 1)
        .contains("holdfast_job_opens_total{job_name=\"other\",mount=\"m\"} 236.0");
  }

  /** An alert waited for the smallest epoch of all jobs, which was the 0 of this row for ever. */
  @Test
  void text_ofTheRowOfAllOtherJobs_hasNoEpoch() {
    List<Map<String, Object>> jobs =
        List.of(
            Map.of("job", "a", "opens", 2, "items", 38, "misses", 19, "epoch", 2),
            Map.of("job", "(others)", "opens", 1, "items", 19, "misses", 19, "epoch", -1));
    assertThat(text(Map.of("jobs", Map.of("jobs", jobs)), List.of()))
        .contains("holdfast_job_items_total{job_name=\"a\",mount=\"m\"} 38.0\n")
        .contains("holdfast_job_items_total{job_name=\"other\",mount=\"m\"} 19.0\n")
        .contains("holdfast_job_epoch{job_name=\"a\",mount=\"m\"} 2.0\n")
        .doesNotContain("holdfast_job_epoch{job_name=\"other\"", "(others)");
  }

  /** Hours after a training had ended, a dashboard still said what it waited for. */
  @Test
  void text_ofAJobThatHasEnded_hasNoVerdict() {
    List<Map<String, Object>> jobs =
        List.of(
            Map.of("job", "reads", "verdict", "storage"),
            Map.of("job", "over", "verdict", "storage", "ended_seconds", 3600),
            Map.of(
                "job",
                "evaluates",
                "verdict",
                "storage",
                "ended_seconds",
                9,
                "parent_alive",
                true));
    assertThat(
            text(Map.of("jobs", Map.of("jobs", jobs)), List.of())
                .lines()
                .filter(line -> line.startsWith("holdfast_job_verdict{")))
        .containsExactlyInAnyOrder(
            "holdfast_job_verdict{job_name=\"reads\",mount=\"m\",verdict=\"storage\"} 1.0",
            "holdfast_job_verdict{job_name=\"evaluates\",mount=\"m\",verdict=\"storage\"} 1.0");
  }

  @Test
  void text_ofFiguresThatAreMissing_hasNoValuesOfThem() {
    assertThat(text(Map.of(), List.of()))
        .contains("holdfast_opens_total{mount=\"m\"} 0.0\n")
        .doesNotContain("holdfast_cluster_", "holdfast_process_threads", "holdfast_peer_");
  }

  @Test
  void text_ofFiguresThatNobodyKnows_hasNoValuesOfThem() {
    List<Map<String, Object>> peers = List.of(Map.of("node", "b:1", "resident_bytes", -1));
    assertThat(text(Map.of(), peers))
        .contains("holdfast_peer_capacity_bytes{mount=\"m\",node=\"b:1\"} 0.0\n")
        .doesNotContain("holdfast_peer_resident_bytes");
  }

  /** Figures that cannot be added up are left out. */
  @Test
  void text_ofVeryManyNodes_hasSumsOfTheOthersOnly() {
    List<Map<String, Object>> peers = new ArrayList<>();
    for (int i = 0; i < Exposition.MOST_LABELS + 2; i++) {
      peers.add(Map.of("node", "n" + i, "state", "up", "bytes_in", 5, "p50_us", 7, "share", 0.1));
    }
    assertThat(text(Map.of(), peers).lines().filter(line -> line.contains("node=\"other\"")))
        .containsExactlyInAnyOrder(
            "holdfast_peer_received_items_total{mount=\"m\",node=\"other\"} 0.0",
            "holdfast_peer_received_bytes_total{mount=\"m\",node=\"other\"} 10.0",
            "holdfast_peer_sent_items_total{mount=\"m\",node=\"other\"} 0.0",
            "holdfast_peer_sent_bytes_total{mount=\"m\",node=\"other\"} 0.0",
            "holdfast_peer_errors_total{mount=\"m\",node=\"other\"} 0.0");
  }

  private static String text(Map<String, Object> stats, List<Map<String, Object>> peers) {
    Exposition exposition =
        new Exposition("m", () -> FiguresJson.figures(stats), () -> FiguresJson.nodes(peers));
    return new String(exposition.text(), StandardCharsets.UTF_8);
  }
}
