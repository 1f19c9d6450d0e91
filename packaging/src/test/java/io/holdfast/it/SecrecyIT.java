package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The information about other users that a mount of root gives a user without rights. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class SecrecyIT {
  private static final Duration READ_DEADLINE = Duration.ofSeconds(60);

  /** In the environment of root's process, and with it the name of its job. */
  private static final String SECRET_JOB = "secret-job";

  /** Among the settings: the name of a file that is not to be seen. */
  private static final String SECRET_PATTERN = "secret-pattern/";

  /** The name of root's command. */
  private static final String SECRET_COMMAND = "secret-command";

  private static final List<String> FILES =
      List.of("stats", "stats.json", "peers", "peers.json", "metrics", "config");

  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static Mount mount;

  @BeforeAll
  static void mountWithAJobOfRoot() throws IOException {
    Dataset dataset = Dataset.create(SANDBOX.folder("origin"), 4, i -> 10_000);
    mount =
        SANDBOX.mount(
            dataset.root(),
            "--capacity",
            "64M",
            "--job-by",
            "env:RUN",
            "--keep",
            SECRET_PATTERN,
            "--access-log",
            SANDBOX.root().resolve("access.log").toString());
    Path command = Files.copy(Path.of("/bin/sh"), SANDBOX.root().resolve(SECRET_COMMAND));
    List<String> words = new ArrayList<>(List.of(command.toString(), "-c"));
    words.add("for f; do exec 3<\"$f\"; read -r x <&3; done; echo done; read -r end");
    words.add("sh");
    dataset.files().forEach(file -> words.add(mount.path(file).toString()));
    SANDBOX.start(Map.of("RUN", SECRET_JOB), words).awaitLine(1, READ_DEADLINE);
    mount.awaitStats("the job", stats -> stats.toString().contains(SECRET_JOB));
  }

  private static Child.Result asNobody(String... command) {
    List<String> all = new ArrayList<>();
    all.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
    all.addAll(Arrays.asList(command));
    return SANDBOX.run(Map.of(), all);
  }

  private static String control(String file) {
    return mount.path(".holdfast").resolve(file).toString();
  }

  @Test
  void controlFiles_readByAnotherUser_nameNoJobNoProcessAndNoFile() {
    for (String file : FILES) {
      String ofRoot = SANDBOX.command("cat", control(file)).mustSucceed().out();
      String ofNobody = asNobody("cat", control(file)).mustSucceed().out();
      assertThat(ofNobody).as(file).isNotEmpty();
      assertThat(ofNobody).as(file).doesNotContain(SECRET_JOB, SECRET_COMMAND, SECRET_PATTERN);
      if (file.startsWith("stats") || file.equals("metrics")) {
        assertThat(ofRoot).as(file).contains(SECRET_JOB);
      }
    }
    assertThat(SANDBOX.command("cat", control("stats.json")).out()).contains(SECRET_COMMAND);
    assertThat(SANDBOX.command("cat", control("config")).out()).contains(SECRET_PATTERN);
    Stats ofNobody = Stats.parse(asNobody("cat", control("stats.json")).mustSucceed().out());
    assertThat(ofNobody.number("opens.total")).isPositive();
    assertThat(ofNobody.list("jobs.jobs")).isEmpty();
    assertThat(ofNobody.processes()).isEmpty();
  }

  /** The page cache is one for all, and the kernel remembers names that root has looked up. */
  @Test
  void snapshotOfRoot_thatRootHasRead_isRefusedToAnotherUserByItsName() throws IOException {
    Path link = Path.of(control("stats.json"));
    Path target = link.resolveSibling(Files.readSymbolicLink(link));
    assertThat(Files.readString(target)).contains(SECRET_JOB);

    assertThat(Posix.lstat(RawPath.of(target)).mode() & 07777).isEqualTo(0400);
    assertThat(asNobody("cat", target.toString()).err()).contains("Permission denied");
    assertThat(asNobody("stat", target.toString()).err()).contains("Permission denied");
    assertThat(asNobody("ls", target.getParent().toString()).err()).contains("Permission denied");
    Path elsewhere = link.resolveSibling("snapshots").resolve(target.getFileName());
    assertThat(asNobody("cat", elsewhere.toString()).err()).contains("No such file");
    assertThat(asNobody("readlink", link.toString()).mustSucceed().out())
        .startsWith("snapshots/")
        .doesNotContain(target.getFileName().toString());
  }

  /**
   * Root reads it all the time, in processes that come and go, and so do the numbers of threads.
   */
  @Test
  void controlFile_readByBothAtOnce_neverShowsTheOwnersFigures() {
    String loop = "end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do cat \"$1\"; done";
    Child root = SANDBOX.start("sh", "-c", loop + " >/dev/null", "sh", control("stats.json"));
    Child.Result nobody = asNobody("sh", "-c", loop, "sh", control("stats.json"));
    root.await(READ_DEADLINE).mustSucceed();
    assertThat(nobody.mustSucceed().out())
        .contains("\"processes\"")
        .doesNotContain(SECRET_JOB, SECRET_COMMAND);
  }

  @Test
  void rootOfAUserNamespace_isNotTheOwner() {
    Child.Result result =
        asNobody("unshare", "--user", "--map-root-user", "cat", control("stats.json"));
    assertThat(result.mustSucceed().out()).doesNotContain(SECRET_JOB, SECRET_COMMAND);
  }

  @Test
  void controlSocket_ofAnotherUser_isRefused() throws IOException {
    Path socket = Path.of("/run/holdfast", mount.name() + ".sock");
    assertThat(Posix.lstat(RawPath.of(socket)).mode() & 07777).isEqualTo(0600);
    Child.Result result = asNobody(Sandbox.launcher(), "stats", mount.name());
    assertThat(result.exit()).isNotZero();
    assertThat(result.out()).doesNotContain(SECRET_JOB);
  }

  @Test
  void logs_andWhatIsKept_areNotForOtherUsers() throws IOException {
    for (Path log : List.of(mount.log(), SANDBOX.root().resolve("access.log"))) {
      assertThat(Posix.lstat(RawPath.of(log)).mode() & 07777).as("%s", log).isEqualTo(0640);
      assertThat(asNobody("cat", log.toString()).exit()).as("%s", log).isNotZero();
    }
    assertThat(Posix.lstat(RawPath.of(mount.stateDirectory())).mode() & 077).isZero();
    if (Files.exists(mount.state())) {
      assertThat(Posix.lstat(RawPath.of(mount.state())).mode() & 077).isZero();
      Path settings = mount.state().resolve("settings.json");
      assertThat(Posix.lstat(RawPath.of(settings)).mode() & 07777).isEqualTo(0600);
    }
  }

  /** Perl is everywhere: its numbers of the calls for extended attributes, and the call. */
  private static final String ATTRIBUTES =
      """
      %numbers = `uname -m` =~ /x86/ ? (set => 188, get => 191, list => 194)
          : (set => 5, get => 8, list => 11);
      ($call, @words) = @ARGV;
      ($room, $value) = ("\\0" x 4096, "1");
      $result = $call eq "list" ? syscall($numbers{list}, $words[0], $room, 4096)
          : $call eq "get" ? syscall($numbers{get}, $words[0], $words[1], $room, 4096)
          : syscall($numbers{set}, $words[0], $words[1], $value, 1, 0);
      die "$!\\n" if $result < 0;
      print map("$_\\n", split(/\\0/, substr($room, 0, $result))) if $call ne "set";
      """;

  private static String[] attributes(String... words) {
    List<String> all = new ArrayList<>(List.of("perl", "-e", ATTRIBUTES));
    all.addAll(List.of(words));
    return all.toArray(String[]::new);
  }

  @Test
  void attributes_ofAnotherUser_areThoseThatTheOriginShows() throws IOException {
    Place place = Place.create(mount, "attributes");
    Path origin = Files.writeString(place.origin().resolve("file"), "content");
    Path shown = place.path("file");
    SANDBOX.command(attributes("set", origin.toString(), "trusted.secret")).mustSucceed();
    SANDBOX.command(attributes("set", origin.toString(), "user.plain")).mustSucceed();

    for (Path path : List.of(origin, shown)) {
      String there = path.toString();
      assertThat(SANDBOX.command(attributes("list", there)).mustSucceed().out())
          .contains("trusted.secret", "user.plain");
      assertThat(SANDBOX.command(attributes("get", there, "trusted.secret")).out()).contains("1");
      assertThat(asNobody(attributes("list", there)).mustSucceed().out())
          .contains("user.plain")
          .doesNotContain("trusted.secret");
      assertThat(asNobody(attributes("get", there, "user.plain")).mustSucceed().out())
          .contains("1");
      assertThat(asNobody(attributes("get", there, "trusted.secret")).err())
          .contains("No data available");
    }

    Files.setPosixFilePermissions(origin, PosixFilePermissions.fromString("rw-------"));
    mount.refresh();
    for (Path path : List.of(origin, shown)) {
      String there = path.toString();
      for (String name : List.of("user.plain", "user.holdfast.resident")) {
        assertThat(asNobody(attributes("get", there, name)).err()).contains("Permission denied");
      }
    }
  }
}
