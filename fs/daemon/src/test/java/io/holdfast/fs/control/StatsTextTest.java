package io.holdfast.fs.control;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.figures.Figures;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class StatsTextTest {
  static final String STATS =
      """
      { "name": "data-imagenet", "version": "0.1.0", "origin": "/data/imagenet",
        "mountpoint": "/data/imagenet", "mounted_at": "2026-01-02T03:04:05Z", "uptime_seconds": 7980,
        "dataset": { "files": 1200000, "bytes": 645000000000, "scanned": true },
        "cache": { "policy": "minio", "capacity_bytes": 420000000000, "resident_bytes": 419000000000,
                   "resident_items": 812345, "admitted_items": 812345, "refused_items": 387655,
                   "evicted_items": 0, "planned_hit_ratio": 0.6512, "pin": "hard" },
        "opens": { "counted": true, "total": 2400000, "items": 2400000, "misses": 1587655 },
        "jobs": { "by": "cgroup", "jobs": [
          { "job": "/slurm/job_7", "processes": 9, "opens": 2399999, "misses": 1587655,
            "hit_ratio": 0.3385, "fetched_bytes": 870000000000, "stall_seconds": 123.4,
            "verdict": "accelerator", "reason": "its readers wait", "epoch": 2,
            "epochs": [
              { "epoch": 1, "opens": 1200000, "misses": 1200000, "hit_ratio": 0.0,
                "stall_seconds": 100.1, "seconds": 1000.5 },
              { "epoch": 2, "opens": 1199999, "misses": 387655, "hit_ratio": 0.677,
                "stall_seconds": 23.3, "seconds": 900.04,
                "shares": { "fetch_origin": 0.004, "fetch_peer": 0, "preparation": 0.256,
                            "back_pressure": 0.74 } } ] },
          { "job": "unknown", "processes": 1, "opens": 1, "misses": 0, "fetched_bytes": 0,
            "stall_seconds": 0.0, "verdict": "unknown", "reason": "no opens were seen",
            "epoch": 0, "epochs": [] } ] },
        "processes": [
          { "pid": 11, "job": "/slurm/job_7", "command": "python", "opens": 2399999,
            "misses": 1587655, "fetched_bytes": 870000000000, "stall_seconds": 123.4 },
          { "pid": 9, "job": "unknown", "command": "", "opens": 1, "misses": 0,
            "fetched_bytes": 0, "stall_seconds": 0.0 } ],
        "fetches": { "origin": { "items": 1587655, "bytes": 870000000000, "errors": 1, "retries": 2,
          "limit": 24, "in_flight": 2, "queued": 5, "stuck": 1 },
                     "peer": { "items": 0, "bytes": 0, "errors": 0 }, "coalesced": 17, "in_flight": 3 },
        "reads": { "requests": 6000000, "bytes": 870000000000, "errors": 1, "stall_seconds": 123.45 },
        "transit": { "capacity_bytes": 268435456, "used_bytes": 12000000, "window_bytes": 67000000,
                     "dropped_bytes": 450000000000 },
        "memory": { "limit_bytes": 420000000000, "used_bytes": 419500000000, "peak_bytes": 419900000000,
                    "state": "limited", "cause": "machine", "allowed_bytes": 419000000000,
                    "given_up_bytes": 2000000000, "given_up_items": 1500, "given_up_times": 2 },
        "kernel": { "binding": "kernel", "daemon_restarts": 2, "ioctl": "lsm", "opens": "bpf",
                    "cached_bytes": 419067000000, "requests": { "LOOKUP": 1200000, "READ": 6000000 } } }
      """;

  static Figures stats(String json) throws IOException {
    return FiguresJson.figures(JSON.std.mapFrom(json));
  }

  @Test
  void of_figures_areGroupedAndAligned() throws IOException {
    assertThat(StatsText.of(stats(STATS)))
        .isEqualTo(
            """
            data-imagenet
              origin        /data/imagenet
              mountpoint    /data/imagenet
              up            2 h 13 min, since 2026-01-02T03:04:05Z
              version       0.1.0
              binding       kernel, daemon started again 2 times

            dataset
              files         1.2 M
              size          601 GiB

            cache
              policy        minio, hard pins
              resident      390 GiB of 391 GiB (99 %)
              items         812,345 resident
              decisions     812,345 admitted, 387,655 refused, 0 evicted
              hit ratio     0.65 planned, 0.34 so far

            opens
              total         2,400,000

            jobs, by cgroup
              job           processes  opens      misses     hit ratio  fetched  stalled  epoch  its hit ratio  waits for
              /slurm/job_7  9          2,399,999  1,587,655  0.34       810 GiB  123.4 s  2      0.68           accelerator
              unknown       1          1          0          -          0 B      0.0 s    -      -              -

            fetches
              from origin   1,587,655 items, 810 GiB, errors 1, retries 2
              shared        17 waited for another's fetch
              in flight     3; at the origin 2 of at most 24, 5 wait, 1 never came back

            reads that reached the daemon
              requests      6,000,000
              size          810 GiB
              errors        1
              stalled       123.5 s, all readers together, 0.0 s of it by peers

            transit
              in use        11.4 MiB of 256 MiB
              window        63.9 MiB now, 419 GiB dropped

            memory
              in use        391 GiB of 391 GiB, at most 391 GiB so far
              residents     limited because of machine: they may take 390 GiB
              made way      1.86 GiB in 1,500 items, 2 times

            kernel
              page cache    390 GiB
              ioctl         TCGETS answered by the kernel (BPF, lsm)
              opens         told by a program in the kernel (BPF)
              requests      LOOKUP 1,200,000, READ 6,000,000
            """);
  }

  @Test
  void of_hiddenKeys_areToldWithOneOfThemOrWithout() throws IOException {
    String text =
        StatsText.of(stats("{\"dataset\": {\"hidden_keys\": 2, \"hidden_key\": \"a//b\"}}"));
    assertThat(text)
        .contains("  hidden        2 keys of the store cannot be shown as paths, as 'a//b'\n");
    assertThat(StatsText.of(stats("{\"dataset\": {\"hidden_keys\": 1, \"hidden_key\": \"\"}}")))
        .contains("  hidden        1 key of the store cannot be shown as a path\n");
  }

  /** It said that the daemon still scanned, for as long as a directory failed. */
  @Test
  void of_datasetWithAFailedListing_saysSo() throws IOException {
    assertThat(
            StatsText.of(
                stats(
                    "{\"dataset\": {\"files\": 7, \"scanned\": false, \"incomplete_listings\": 2}}")))
        .contains(
            "files         7 so far: not scanned whole, 2 listings failed since the mount: see the log");
  }

  @Test
  void of_nothing_stillShowsEveryGroup() throws IOException {
    assertThat(StatsText.of(stats("{}")))
        .contains(
            "\ndataset\n", "\ncache\n", "\nopens\n", "\nfetches\n", "\ntransit\n", "\nkernel\n")
        .contains("total         not counted")
        .contains("files         0 so far: still scanning")
        .contains("hit ratio     - planned, - so far");
  }

  @Test
  void capacityOfTheNodesBudget_isShownAsThat() throws IOException {
    String part =
        """
        { "cache": { "capacity_bytes": 8589934592, "resident_bytes": 4294967296,
                     "capacity_of_node_budget": true } }
        """;
    assertThat(StatsText.of(FiguresJson.figures(JSON.std.mapFrom(part))))
        .contains("  resident      4.00 GiB of 8.00 GiB (50 %), a part of the node's budget\n");
  }

  @Test
  void allocation_isShownWhereItWasTold() throws IOException {
    String told =
        """
        { "allocation": { "budget_bytes": 8589934592, "fair_share_bytes": 4294967296,
                          "proposed_bytes": 6442450944, "changes": 2, "told_seconds": 20,
                          "changed_seconds": 10 } }
        """;
    assertThat(StatsText.of(FiguresJson.figures(JSON.std.mapFrom(told))))
        .contains(
            "  allocation    6.00 GiB proposed, fair share 4.00 GiB, of 8.00 GiB for all mounts;"
                + " set 2 times, at 1970-01-01T00:00:10Z last\n");
  }

  @Test
  void of_manyJobs_showsTheFirst() throws IOException {
    StringBuilder jobs = new StringBuilder("{ \"job\": \"/j1\" }");
    for (int job = 2; job <= 20; job++) {
      jobs.append(", { \"job\": \"/j").append(job).append("\" }");
    }
    String json = "{ \"jobs\": { \"by\": \"cgroup\", \"jobs\": [" + jobs + "] } }";
    assertThat(StatsText.of(stats(json)))
        .contains("\n  /j8 ")
        .doesNotContain("/j9")
        .contains("  and 12 more: 'holdfast stats --jobs'\n");
  }

  @Test
  void jobsText_showsJobsEpochsAndProcesses() throws IOException {
    assertThat(JobsText.of(stats(STATS)))
        .isEqualTo(
            """
            job           processes  opens      misses     hit ratio  fetched  stalled  epoch  its hit ratio  waits for
            /slurm/job_7  9          2,399,999  1,587,655  0.34       810 GiB  123.4 s  2      0.68           accelerator
            unknown       1          1          0          -          0 B      0.0 s    -      -              -

            job           epoch  opens      misses     hit ratio  stalled  took      origin  peers  preparation  back-pressure
            /slurm/job_7  1      1,200,000  1,200,000  0.00       100.1 s  1000.5 s  -       -      -            -
            /slurm/job_7  2      1,199,999  387,655    0.68       23.3 s   900.0 s   0 %     0 %    26 %         74 %

            job           waits for    because
            /slurm/job_7  accelerator  its readers wait
            unknown       -            no opens were seen

            process  command  opens      misses     fetched  stalled  job
            11       python   2,399,999  1,587,655  810 GiB  123.4 s  /slurm/job_7
            9                 1          0          0 B      0.0 s    unknown
            """);
    assertThat(JobsText.of(stats("{}"))).isEqualTo("no job has opened or fetched anything yet\n");
  }

  @Test
  void jobsText_foldsProcessesThatHaveEnded() throws IOException {
    String cat =
        "{ \"pid\": %d, \"job\": \"/j\", \"command\": \"cat\", \"ended\": %b, \"opens\": 2 }";
    String json =
        "{ \"jobs\": { \"jobs\": [ { \"job\": \"/j\" } ] }, \"processes\": [ "
            + String.join(
                ", ",
                cat.formatted(5, true),
                cat.formatted(6, false),
                cat.formatted(7, true),
                cat.formatted(8, true))
            + " ] }";
    assertThat(JobsText.of(stats(json)))
        .endsWith(
            """
            process  command  opens  misses  fetched  stalled  job
            3 ended  cat      6      0       0 B      0.0 s    /j
            6        cat      2      0       0 B      0.0 s    /j
            """);
  }

  @Test
  void of_peers_showsThem() throws IOException {
    String json = "{ \"fetches\": { \"peer\": { \"items\": 7, \"bytes\": 1000, \"errors\": 0 } } }";
    assertThat(StatsText.of(stats(json))).contains("from peers    7 items, 0.98 KiB, errors 0");
  }

  /**
   * Items that a task, an order or a peer had had fetched counted as misses, and so did each item
   * of a large file.
   */
  @Test
  void hitRatio_isOfTheItemsThatReadersNeeded() throws IOException {
    String json =
        """
        { "opens": { "counted": true, "total": 10, "items": 190, "misses": 19 },
          "fetches": { "origin": { "items": 5000 }, "peer": { "items": 100 } } }
        """;
    assertThat(StatsText.of(stats(json))).contains("  hit ratio     - planned, 0.90 so far\n");
  }

  @Test
  void hitRatio_moreMissesThanItems_isUnknown() {
    assertThat(StatsText.hitRatio(10, 11)).isEqualTo("-");
    assertThat(StatsText.hitRatio(0, 0)).isEqualTo("-");
    assertThat(StatsText.hitRatio(10, 0)).isEqualTo("1.00");
    assertThat(StatsText.hitRatio(10, 10)).isEqualTo("0.00");
  }
}
