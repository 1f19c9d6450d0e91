package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.metrics.Metric;
import io.holdfast.fs.metrics.Metrics;
import io.holdfast.monitoring.MetricsLint;
import io.holdfast.monitoring.Queries;
import io.holdfast.monitoring.Scrape;
import io.holdfast.posix.Posix;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The data that monitoring gets of real mounts: metrics, the log as JSON, the access log. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class MetricsIT {
  private static final int FILES = 40;
  private static final int FILE_BYTES = 10_000;
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** A file that is read while the origin hangs. */
  private static final String LATE = "late";

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final Random random = new Random(1);
  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  void scrapeAndLogs_ofAMountWhoseOriginHangsLater_areWellFormedAndTrue() throws Exception {
    Dataset dataset = dataset();
    Files.write(dataset.root().resolve(LATE), new byte[FILE_BYTES]);
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    int port = Sandbox.freePort();
    Path access = sandbox.folder("logs").resolve("access.log");
    Mount mount =
        sandbox.mount(
            store.root(),
            "--capacity",
            "64M",
            "--metrics",
            "" + port,
            "--stats-visible-to",
            "all",
            "--source-timeout",
            "10m",
            "--log-format",
            "json",
            "--access-log",
            access.toString(),
            "--access-log-sample",
            "1/1");
    long reader = read(mount, dataset);
    Stats stats =
        mount.awaitStats("all opens", s -> s.number("opens.total") == FILES && isSettled(s));

    Scrape scrape = scrape(port);

    assertThat(MetricsLint.problems(scrape)).isEmpty();
    assertThat(scrape.sum("holdfast_fetched_items_total", "source", "origin")).isEqualTo(FILES);
    assertThat(value(scrape, "holdfast_opens_total")).isEqualTo(FILES);
    assertThat(value(scrape, "holdfast_cache_resident_bytes"))
        .isEqualTo((double) stats.residentBytes());
    assertThat(value(scrape, "holdfast_origin_fetch_duration_seconds_count"))
        .isGreaterThanOrEqualTo(FILES);
    assertThat(value(scrape, "holdfast_process_anonymous_bytes")).isBetween(50e6, 2e9);
    assertThat(scrape.samples("holdfast_cache_resident_bytes").get(0).labels())
        .containsEntry("mount", mount.name());
    Scrape ofFile = Scrape.parse(Files.readString(mount.path(".holdfast/metrics")));
    assertThat(ofFile.names()).isEqualTo(scrape.names());
    long late = assertScrapeWhileTheOriginHangsAnswers(mount, store, port);
    mount.settledStats();
    mount.umount().mustSucceed();
    assertLogsHaveAnObjectALine(mount, access, dataset, List.of(reader, late));
  }

  /** Returns the process that waited. */
  private long assertScrapeWhileTheOriginHangsAnswers(Mount mount, HangingOrigin store, int port) {
    assertThat(mount.path(LATE)).exists(); // and is known from now on
    store.freeze();
    Child reader;
    try {
      reader = sandbox.start("cat", mount.path(LATE).toString());
      Await.until(DEADLINE, "a fetch", () -> value(scrape(port), "holdfast_fetches_in_flight") > 0);
      assertThat(reader.isAlive()).isTrue();
      assertThat(MetricsLint.problems(scrape(port))).isEmpty();
    } finally {
      store.thaw();
    }
    reader.await(DEADLINE).mustSucceed();
    return reader.pid();
  }

  private static void assertLogsHaveAnObjectALine(
      Mount mount, Path access, Dataset dataset, List<Long> readers) throws IOException {
    List<Map<String, Object>> log = objects(mount.log());
    assertThat(log).extracting(event -> event.get("level")).contains("INFO");
    assertThat(log)
        .extracting(event -> (String) event.get("formattedMessage"))
        .anyMatch(message -> message.startsWith("mounted "));
    List<Map<String, Object>> accesses = objects(access);
    assertThat(accesses.stream().filter(event -> event.get("event").equals("fetch")))
        .hasSize(FILES + 1)
        .allSatisfy(
            event ->
                assertThat(event).containsEntry("source", "origin").containsEntry("result", "ok"));
    assertThat(accesses.stream().filter(event -> event.get("event").equals("read")))
        .hasSizeGreaterThanOrEqualTo(FILES + 1)
        .extracting(event -> ((Number) event.get("pid")).longValue())
        .hasSameElementsAs(readers);
    assertThat(accesses)
        .extracting(event -> event.get("path"))
        .contains(dataset.files().toArray())
        .contains(LATE);
  }

  @Test
  void scrape_ofANodeWithPeers_hasEveryMetricAndAnswersTheDashboard() throws IOException {
    Dataset dataset = dataset();
    Cluster cluster = new Cluster(sandbox, "--capacity", "16M", "--convoy", "16M");
    cluster.start(dataset.root(), 2);
    cluster.read(cluster.nodes(), dataset.shares(sandbox, random, 2));

    Mount mount = cluster.node(0).mount();
    Path order = Files.write(sandbox.root().resolve("order"), dataset.files());
    for (String job : List.of("any", "other")) { // which are a convoy
      sandbox.holdfast("order", mount.name(), "--job", job, order.toString()).mustSucceed();
    }
    String part =
        "{\"command\":\"allocation\",\"budget_bytes\":9,\"fair_share_bytes\":4,"
            + "\"proposed_bytes\":5,\"changed\":true}";
    assertThat(ControlSocket.ask(mount.name(), part)).contains("\"ok\":true");
    // the time of a reader is known when two looks have found it at work
    Child reader =
        sandbox.start(
            "sh",
            "-c",
            "while :; do read -r line <\"$0\"; done",
            mount.path(dataset.files().get(0)).toString());
    Scrape scrape;
    try {
      scrape =
          Await.value(
              DEADLINE,
              "figures of a reader",
              () -> Scrape.parse(control(mount)),
              s -> s.names().contains("holdfast_job_reader_seconds_total"));
    } finally {
      reader.signal(Posix.SIGKILL);
    }

    assertThat(MetricsLint.problems(scrape)).isEmpty();
    Set<String> declared = new TreeSet<>(Metrics.all().stream().map(Metric::name).toList());
    Set<String> told = new TreeSet<>(scrape.names());
    // only there once somebody was refused
    declared.remove("holdfast_cluster_refusals_total");
    told.remove("holdfast_cluster_refusals_total");
    assertThat(told).isEqualTo(declared);
    assertThat(Queries.unresolved(Queries.labels(scrape))).isEmpty();
  }

  private static boolean isSettled(Stats stats) {
    return stats.number("fetches.in_flight") == 0 && stats.residentItems() == FILES;
  }

  private static List<Map<String, Object>> objects(Path file) throws IOException {
    return Files.readAllLines(file).stream().map(MetricsIT::object).toList();
  }

  private static Map<String, Object> object(String line) {
    try {
      return JSON.std.mapFrom(line);
    } catch (IOException e) {
      throw new AssertionError("not JSON: " + line, e);
    }
  }

  private static double value(Scrape scrape, String name) {
    assertThat(scrape.samples(name)).as(name).hasSize(1);
    return scrape.samples(name).get(0).value();
  }

  private Scrape scrape(int port) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
            .timeout(DEADLINE)
            .build();
    try {
      return Scrape.parse(client.send(request, BodyHandlers.ofString()).body());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError("no answer", e);
    }
  }

  private String control(Mount mount) {
    return sandbox.command("cat", mount.path(".holdfast/metrics").toString()).mustSucceed().out();
  }

  private Dataset dataset() {
    return Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
  }

  /** Returns the reader's process. */
  private long read(Mount mount, Dataset dataset) {
    Path order = dataset.permutation(sandbox, random);
    Child reader = sandbox.startJava(Reader.class, mount.mountpoint(), order, 1, "share");
    reader.await(DEADLINE).mustSucceed();
    return reader.pid();
  }
}
