package io.holdfast.it;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The page of real mounts ({@code --page}): its files, its figures, and who may see them. What a
 * browser makes of it is for {@code packaging/e2e/page/run}.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class PageIT {
  private static final int FILES = 40;
  private static final int FILE_BYTES = 10_000;
  private static final int USAGE = 2;
  private static final int COULD_NOT = 1;
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String TOKEN = "a token of some letters";
  private static final String SECRET_JOB = "secret-job";

  /** A file that the job does not read. */
  private static final String LATE = "late";

  private static final List<String> COUNTERS =
      List.of("opens.total", "fetches.origin.bytes", "cache.resident_bytes", "reads.requests");

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final Random random = new Random(1);
  private final HttpClient client = HttpClient.newHttpClient();

  /** Each of these figures only grows. */
  @Test
  void figures_whileAJobReads_areThoseOfStats_andAreShownWhileTheOriginHangs() throws Exception {
    Dataset dataset = dataset();
    Files.write(dataset.root().resolve(LATE), new byte[FILE_BYTES]);
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    int port = Sandbox.freePort();
    Mount mount =
        sandbox.mount(
            store.root(),
            "--capacity",
            "64M",
            "--page",
            "" + port,
            "--stats-visible-to",
            "all",
            "--source-timeout",
            "10m");
    assertThat(mount.plan()).contains("page at http://127.0.0.1:" + port + "/");
    Path order = dataset.permutation(sandbox, random);
    Child reader = sandbox.startJava(Reader.class, mount.mountpoint(), order, 1, "share");
    while (reader.isAlive()) {
      Stats before = mount.stats();
      // the page's figures may be some tenths of a second old
      Stats page = Await.value(DEADLINE, "as many", () -> figures(port), s -> isAtLeast(s, before));
      Stats after = mount.stats();
      assertThat(isAtLeast(after, page)).as("%s, %s", page, after).isTrue();
    }
    reader.await(DEADLINE).mustSucceed();
    mount.awaitStats("all opens", s -> s.number("opens.total") == FILES);
    Stats stats = mount.settledStats();
    assertThat(stats.list("jobs.jobs")).isNotEmpty();
    Stats page = Await.value(DEADLINE, "as many", () -> figures(port), s -> isAtLeast(s, stats));
    for (String counter : COUNTERS) {
      assertThat(page.number(counter)).as(counter).isEqualTo(stats.number(counter));
    }
    assertThat(page.list("jobs.jobs")).hasSameSizeAs(stats.list("jobs.jobs"));
    assertThat(page.toString()).doesNotContain("proposed_bytes");
    String part =
        "{\"command\":\"allocation\",\"budget_bytes\":9,\"fair_share_bytes\":4,"
            + "\"proposed_bytes\":5,\"changed\":true}";
    assertThat(ControlSocket.ask(mount.name(), part)).contains("\"ok\":true");
    page =
        Await.value(
            DEADLINE,
            "what 'holdfast allocate' told",
            () -> figures(port),
            s -> s.toString().contains("proposed_bytes"));
    assertThat(page.number("allocation.budget_bytes")).isEqualTo(9);
    assertThat(page.number("allocation.fair_share_bytes")).isEqualTo(4);
    assertThat(page.number("allocation.proposed_bytes")).isEqualTo(5);
    assertThat(page.number("allocation.changes")).isEqualTo(1);
    // what the page makes of them is in rows of this table
    assertThat(get(port, "/").body()).contains("<table id=\"memory-table\">");
    assertThat(get(port, "/page.js").body()).contains("told.proposed_bytes", "told.budget_bytes");
    assertThat(get(port, "/").body()).contains("<title>Holdfast</title>");
    assertThat(get(port, "/uplot/uPlot.js").body()).contains("uPlot");
    assertIsShownWhileTheOriginHangs(mount, store, port);
  }

  private void assertIsShownWhileTheOriginHangs(Mount mount, HangingOrigin store, int port)
      throws Exception {
    assertThat(mount.path(LATE)).exists(); // and is known from now on
    store.freeze();
    try {
      Child reader = sandbox.start("cat", mount.path(LATE).toString());
      Await.until(
          DEADLINE,
          "the page says for how long there was no answer",
          () -> figures(port).number("fetches.origin.unanswered_seconds") > 0);
      assertThat(figures(port).number("fetches.in_flight")).isPositive();
      assertThat(get(port, "/").statusCode()).isEqualTo(200);
      assertThat(get(port, "/page.json").statusCode()).isEqualTo(200);
      assertThat(reader.isAlive()).isTrue();
    } finally {
      store.thaw();
    }
  }

  private static boolean isAtLeast(Stats stats, Stats before) {
    return COUNTERS.stream().allMatch(each -> stats.number(each) >= before.number(each));
  }

  /** Whoever connects may be any user of the machine: they see what .holdfast shows them. */
  @Test
  void visitors_withoutAToken_seeNoJobNoProcessAndNoFileName_andByAnotherHostsNameNothing()
      throws Exception {
    Dataset dataset = dataset();
    int port = Sandbox.freePort();
    Mount mount =
        sandbox.mount(
            dataset.root(),
            "--capacity",
            "64M",
            "--job-by",
            "env:RUN",
            "--keep",
            "secret-pattern/",
            "--page",
            "" + port);
    sandbox
        .start(
            Map.of("RUN", SECRET_JOB),
            List.of("cat", mount.path(dataset.files().get(0)).toString()))
        .await(DEADLINE);
    mount.awaitStats("the job", s -> s.toString().contains(SECRET_JOB));

    Stats page = figures(port);
    assertThat(page.list("jobs.jobs")).isEmpty();
    assertThat(page.processes()).isEmpty();
    assertThat(page.number("dataset.files")).isEqualTo(FILES);
    for (String path : List.of("/stats.json", "/page.json")) {
      assertThat(get(port, path).body()).doesNotContain(SECRET_JOB, "secret-pattern");
    }
    assertThat(get(port, "/page.json").body()).contains("\"shows\" : \"sums\"");
    assertRefusesAnotherHost(port);
  }

  /** The name of a stranger's page may lead to this machine, and its script to this port. */
  private static void assertRefusesAnotherHost(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout((int) DEADLINE.toMillis());
      socket
          .getOutputStream()
          .write(
              "GET /stats.json HTTP/1.1\r\nHost: attacker.example:%d\r\nConnection: close\r\n\r\n"
                  .formatted(port)
                  .getBytes(US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), UTF_8);
      assertThat(answer).startsWith("HTTP/1.1 421").doesNotContain("resident_bytes");
    }
  }

  @Test
  void visitors_withTheToken_seeWhatTheOwnerSees() throws Exception {
    Dataset dataset = dataset();
    int port = Sandbox.freePort();
    Path token = secret("token", TOKEN + "\n", "rw-------");
    Mount mount =
        sandbox.mount(
            dataset.root(),
            "--capacity",
            "64M",
            "--job-by",
            "env:RUN",
            "--page",
            "127.0.0.1:" + port,
            "--page-token-file",
            token.toString());
    sandbox
        .start(
            Map.of("RUN", SECRET_JOB),
            List.of("cat", mount.path(dataset.files().get(0)).toString()))
        .await(DEADLINE);
    mount.awaitStats("the job", s -> s.toString().contains(SECRET_JOB));

    assertThat(get(port, "/stats.json").statusCode()).isEqualTo(401);
    assertThat(get(port, "/stats.json", "any:" + TOKEN + "x").statusCode()).isEqualTo(401);
    HttpResponse<String> answer = get(port, "/stats.json", "any:" + TOKEN);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains(SECRET_JOB);
    assertThat(get(port, "/page.json", "any:" + TOKEN).body())
        .contains("\"shows\" : \"all\"", token.toString())
        .doesNotContain(TOKEN);
    assertThat(mount.log()).content(UTF_8).doesNotContain(TOKEN);
  }

  /**
   * One mistake of each kind: in what is there, in the options, and in the token's file.
   * MountOptionsTest and PageTokenTest try all mistakes without a process.
   */
  @Test
  void page_thatCannotBe_isToldInOneLineBeforeAnythingIsMounted() throws Exception {
    Dataset dataset = dataset();
    Path mountpoint = sandbox.folder("mountpoint");
    String open = secret("open", TOKEN, "rw-r--r--").toString();
    String port = "" + Sandbox.freePort();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String used = "" + taken.getLocalPort();
      assertRefused(dataset, mountpoint, COULD_NOT, "choose another port", "--page", used);
      assertRefused(dataset, mountpoint, USAGE, "--page-token-file", "--page", "0.0.0.0:" + port);
      assertRefused(
          dataset, mountpoint, COULD_NOT, open, "--page", port, "--page-token-file", open);
    }
  }

  private void assertRefused(
      Dataset dataset, Path mountpoint, int exit, String mentioned, String... options) {
    Leftovers before = Leftovers.of(sandbox);
    List<String> words = new ArrayList<>(List.of("mount", "--name", sandbox.id() + "-bad"));
    words.addAll(List.of(options));
    words.addAll(List.of(dataset.root().toString(), mountpoint.toString()));
    Child.Result result = sandbox.holdfast(words.toArray(String[]::new));
    assertThat(result.exit()).as("%s", result).isEqualTo(exit);
    assertThat(result.err()).startsWith("holdfast: ").contains(mentioned).hasLineCount(1);
    before.assertNothingMore();
  }

  private Path secret(String name, String content, String mode) throws IOException {
    Path file = Files.writeString(sandbox.root().resolve(name), content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  private Stats figures(int port) throws IOException, InterruptedException {
    HttpResponse<String> answer = get(port, "/stats.json");
    assertThat(answer.statusCode()).isEqualTo(200);
    return Stats.parse(answer.body());
  }

  private HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
    return get(port, path, "");
  }

  private HttpResponse<String> get(int port, String path, String credentials)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).timeout(DEADLINE);
    if (!credentials.isEmpty()) {
      request.header(
          "Authorization",
          "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(UTF_8)));
    }
    HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
    assertThat(answer.headers().firstValue("Content-Security-Policy")).isPresent();
    return answer;
  }

  private Dataset dataset() {
    return Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
  }
}
