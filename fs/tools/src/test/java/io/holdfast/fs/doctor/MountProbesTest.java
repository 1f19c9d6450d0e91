package io.holdfast.fs.doctor;

import static io.holdfast.fs.doctor.Severity.FAIL;
import static io.holdfast.fs.doctor.Severity.OK;
import static io.holdfast.fs.doctor.Severity.WARN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountProbesTest {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-11-21T12:00:00Z"), ZoneOffset.UTC);

  @TempDir Path temp;
  private FakeMachine machine;

  @BeforeEach
  void makeMachine() {
    machine = new FakeMachine(temp);
  }

  @Test
  void daemon_running_isToldWithItsSupervisor() {
    process(41, 'S');
    process(40, 'S');
    machine.file("state/restarts", "2\n");
    Subject subject = subject("/data", 41, 0, 40);
    assertThat(new DaemonProbe(subject, machine.files(), 0).run())
        .containsExactly(Finding.ok("pid 41 runs, supervisor 40, restarts 2"));
  }

  @Test
  void daemon_stopped_failsWithTheSignalThatMends() {
    process(41, 'T');
    process(40, 'T');
    assertThat(new DaemonProbe(subject("/data", 41, 0, 40), machine.files(), 0).run())
        .extracting(Finding::level, Finding::fix)
        .containsExactly(tuple(FAIL, "kill -CONT 41"), tuple(WARN, "kill -CONT 40"));
  }

  @Test
  void daemon_dead_failsWithWhatReadersSee() {
    Finding found = only(new DaemonProbe(subject("/data", 0, 41, 0), machine.files(), 0).run());
    assertThat(found.level()).isEqualTo(FAIL);
    assertThat(found.text()).contains("(pid 41) is dead", "Transport endpoint is not connected");
    assertThat(found.fix()).startsWith("holdfast umount /data");
  }

  @Test
  void daemon_beingStartedAgain_isAWarning() {
    process(40, 'S');
    assertThat(only(new DaemonProbe(subject("/data", 0, 41, 40), machine.files(), 0).run()).level())
        .isEqualTo(WARN);
    process(40, 'T');
    assertThat(only(new DaemonProbe(subject("/data", 0, 41, 40), machine.files(), 0).run()).level())
        .isEqualTo(FAIL);
  }

  @Test
  void daemon_ofAnotherUser_isNotCalledDead() {
    assertThat(only(new DaemonProbe(subject("/data", 0, 0, 0), machine.files(), 1000).run()))
        .isEqualTo(
            Finding.warn(
                "its daemon is one of user 7 and cannot be seen from here",
                "run this as that user"));
    assertThat(only(new DaemonProbe(subject("/data", 0, 0, 0), machine.files(), 7).run()).level())
        .isEqualTo(FAIL);
  }

  @Test
  void daemon_withoutItsMount_fails() {
    process(41, 'S');
    Subject subject =
        new Subject("x", Path.of("/data"), null, 41, 0, 0, temp.resolve("s"), temp.resolve("t"));
    assertThat(new DaemonProbe(subject, machine.files(), 0).run())
        .extracting(Finding::level)
        .containsExactly(OK, FAIL);
  }

  @Test
  void storeOfCheckpoints_thatFails_isWarnedOf() throws Exception {
    Subject subject = subject("/ckpt", MountTable.CHECKPOINT_SOURCE + "/nfs", 41, 0, 0);
    Map<String, Object> well = Map.of("store_fails", false, "state", "persisting");
    Map<String, Object> fails = Map.of("store_fails", true, "last_error", "step-1: full");
    assertThat(checkpoints(subject, well)).isEqualTo(Finding.ok("/nfs: persisting"));
    assertThat(checkpoints(subject, fails).text())
        .isEqualTo("/nfs fails, and is asked again: step-1: full");
    assertThat(checkpoints(subject, fails).level()).isEqualTo(WARN);
    PendingAnswers silent = trouble(FsError.TIMED_OUT);
    assertThat(only(new CheckpointProbe(subject, silent).run()).level()).isEqualTo(FAIL);
  }

  private Finding checkpoints(Subject subject, Map<String, Object> figures) throws Exception {
    Map<String, Object> stats = Map.of("store", "/nfs", "checkpoint", figures);
    return only(new CheckpointProbe(subject, pending(stats, stats, "")).run());
  }

  @Test
  void connection_tellsWhatWaits() {
    Subject subject = subject("/data", 41, 0, 0);
    assertThat(only(new ConnectionProbe(subject, machine.files()).run()).text())
        .contains("is not known");
    machine.file("sys/fs/fuse/connections/77/waiting", "3\n");
    assertThat(only(new ConnectionProbe(subject, machine.files()).run()).text())
        .isEqualTo("connection 77, requests that wait for an answer: 3");
  }

  @Test
  void socket_silent_failsAndNamesDebug() throws Exception {
    PendingAnswers pending = trouble(FsError.TIMED_OUT);
    Finding found = only(new AnswerProbe(subject("/data", 41, 0, 0), pending, "1").run());
    assertThat(found.level()).isEqualTo(FAIL);
    assertThat(found.fix()).contains("holdfast debug /data", "umount --force /data");
  }

  @Test
  void socket_ofAnotherVersion_isAWarning() throws Exception {
    PendingAnswers pending = pending(Map.of("version", "2", "uptime_seconds", 60), null, "");
    Subject subject = subject("/data", 41, 0, 0);
    assertThat(only(new AnswerProbe(subject, pending, "1").run()).fix())
        .isEqualTo("holdfast restart /data");
    assertThat(only(new AnswerProbe(subject, pending, "2").run()).level()).isEqualTo(OK);
  }

  @Test
  void origin_thatGivesNothing_fails() throws Exception {
    Map<String, Object> waiting = fetches(Map.of("in_flight", 2, "bytes", 7));
    assertThat(origin(waiting, waiting)).containsExactly(FAIL);
    Map<String, Object> later = fetches(Map.of("in_flight", 2, "bytes", 8));
    assertThat(origin(waiting, later)).containsExactly(OK);
    Map<String, Object> stuck = fetches(Map.of("stuck", 1));
    assertThat(origin(stuck, stuck)).containsExactly(FAIL);
    Map<String, Object> errors = fetches(Map.of("errors", 1));
    assertThat(origin(errors, errors)).containsExactly(WARN);
  }

  private List<Severity> origin(Map<String, Object> first, Map<String, Object> second)
      throws Exception {
    Subject inStore = subject("/data", "s3://bucket/x", 41, 0, 0);
    return new OriginProbe(inStore, pending(first, second, ""), machine.files())
        .run().stream().map(Finding::level).toList();
  }

  @Test
  void origin_ofADirectory_isLookedAt() throws Exception {
    PendingAnswers pending = trouble(FsError.TIMED_OUT);
    Subject there = subject("/data", temp.toString(), 41, 0, 0);
    assertThat(only(new OriginProbe(there, pending, machine.files()).run()).level()).isEqualTo(OK);
    Subject gone = subject("/data", temp.resolve("gone").toString(), 41, 0, 0);
    assertThat(only(new OriginProbe(gone, pending, machine.files()).run()).level()).isEqualTo(FAIL);
  }

  @Test
  void origin_withoutFiles_isWarnedOf() throws Exception {
    Map<String, Object> stats =
        Map.of(
            "fetches", Map.of("origin", Map.of()), "dataset", Map.of("scanned", true, "files", 0));
    machine.file("etc/fstab", "server:/x " + temp + " nfs ro 0 0\n");
    Subject there = subject("/data", temp.toString(), 41, 0, 0);
    assertThat(new OriginProbe(there, pending(stats, stats, ""), machine.files()).run())
        .last()
        .satisfies(
            found -> {
              assertThat(found.level()).isEqualTo(WARN);
              assertThat(found.text())
                  .isEqualTo(
                      "the dataset has no files: '"
                          + temp
                          + "' is in /etc/fstab and is not mounted");
            });
  }

  @Test
  void origin_withHiddenKeys_isWarnedOf() throws Exception {
    Map<String, Object> dataset =
        Map.of("scanned", true, "files", 1, "hidden_keys", 2, "hidden_key", "data/a//b");
    Map<String, Object> stats = Map.of("fetches", Map.of("origin", Map.of()), "dataset", dataset);
    Subject inStore = subject("/data", "s3://bucket/data", 41, 0, 0);
    assertThat(new OriginProbe(inStore, pending(stats, stats, ""), machine.files()).run())
        .last()
        .satisfies(
            found -> {
              assertThat(found.level()).isEqualTo(WARN);
              assertThat(found.text())
                  .isEqualTo("2 keys of the store cannot be shown as paths, as 'data/a//b'");
              assertThat(found.fix()).contains("SEMANTICS.md");
            });
  }

  /** The way through the mount would be the mount. */
  @Test
  void origin_underItsMount_isLookedAtThroughTheDaemonsDescriptor() throws Exception {
    PendingAnswers pending = trouble(FsError.TIMED_OUT);
    Path covered = Files.createDirectory(temp.resolve("covered"));
    Subject over = subject(covered.toString(), covered.toString(), 41, 0, 40);
    assertThat(new OriginProbe(over, pending, machine.files()).run()).isEmpty();
    machine.link("proc/40/fd/8", covered.toString());
    assertThat(only(new OriginProbe(over, pending, machine.files()).run()).level()).isEqualTo(OK);
  }

  @Test
  void store_withAnotherTime_fails() throws Exception {
    HttpServer server = server();
    try {
      String endpoint = "http://127.0.0.1:" + server.getAddress().getPort();
      PendingAnswers pending = pending(Map.of(), null, "s3-endpoint  " + endpoint + "  option\n");
      Subject subject = subject("/data", "s3://bucket/x", 41, 0, 0);
      assertThat(only(store(subject, pending, Clock.systemUTC()).run()).level()).isEqualTo(OK);
      Clock late = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(-20));
      Finding found = only(store(subject, pending, late).run());
      assertThat(found.level()).isEqualTo(FAIL);
      assertThat(found.text()).contains("clocks differ by 1");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void clocks_ofPeers_areCompared() throws Exception {
    HttpServer server = server();
    try {
      String node = "127.0.0.1:" + server.getAddress().getPort();
      Map<String, Object> peer = Map.of("node", node, "state", "up");
      Map<String, Object> self = Map.of("node", "x:1", "state", "self");
      PendingAnswers pending =
          PendingAnswers.of(new Answers(Map.of(), null, List.of(self, peer), List.of(), null));
      assertThat(only(new PeerClocksProbe(pending, Clock.systemUTC()).run()).level()).isEqualTo(OK);
      Clock late = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(-2));
      Finding found = only(new PeerClocksProbe(pending, late).run());
      assertThat(found.level()).isEqualTo(WARN);
      assertThat(found.text()).contains("that of " + node + " differs by 1");
    } finally {
      server.stop(0);
    }
  }

  private static HttpServer server() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(403, -1);
          exchange.close();
        });
    server.start();
    return server;
  }

  @Test
  void store_thatIsNotThere_fails() throws Exception {
    PendingAnswers pending =
        pending(Map.of(), null, "s3-endpoint  http://127.0.0.1:" + freePort() + "  option");
    Subject subject = subject("/data", "s3://bucket/x", 41, 0, 0);
    assertThat(only(store(subject, pending, CLOCK).run()).level()).isEqualTo(FAIL);
  }

  private StoreProbe store(Subject subject, PendingAnswers pending, Clock clock) {
    return new StoreProbe(subject, pending, machine.files(), clock);
  }

  /** The daemon reached its store through the proxy, and this said FAIL. */
  @Test
  void store_behindTheDaemonsProxy_isNotAsked() throws Exception {
    String endpoint = "http://127.0.0.1:" + freePort();
    PendingAnswers pending = pending(Map.of(), null, "s3-endpoint  " + endpoint + "  option");
    Subject subject = subject("/data", "s3://bucket/x", 41, 0, 0);
    for (String variable : List.of("HTTP_PROXY", "http_proxy")) {
      machine.file("proc/41/environ", "A=b\0" + variable + "=http://proxy:3128\0");
      assertThat(only(store(subject, pending, CLOCK).run()))
          .isEqualTo(Finding.ok("not asked: the daemon's environment has a proxy, HTTP_PROXY"));
    }
    machine.file("proc/41/environ", "HTTPS_PROXY=http://proxy:3128\0HTTP_PROXY=\0");
    assertThat(only(store(subject, pending, CLOCK).run()).level()).isEqualTo(FAIL);
  }

  @Test
  void store_thatTheDaemonsEnvironmentNames_isNotAsked() throws Exception {
    PendingAnswers pending = pending(Map.of(), null, "s3-region  eu-west-1  option");
    Subject subject = subject("/data", "s3://bucket/x", 41, 0, 0);
    for (String variable : List.of("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")) {
      machine.file("proc/41/environ", variable + "=http://127.0.0.1:1\0");
      assertThat(only(store(subject, pending, CLOCK).run()))
          .isEqualTo(Finding.ok("not asked: its endpoint is known to the daemon only"));
    }
  }

  @Test
  void cache_thatCannotHoldItsItems_isAWarning() throws Exception {
    machine.file(MappingsProbe.FILE, "65530\n");
    Map<String, Object> stats =
        Map.of(
            "cache",
            Map.of("planned_hit_ratio", 0.5, "pin_failures", 3, "pin", "soft"),
            "dataset",
            Map.of("files", 1_000_000, "scanned", true),
            "memory",
            Map.of("state", "limited", "cause", "machine", "allowed_bytes", 1_000_000_000));
    List<Finding> found = new CacheProbe(pending(stats, null, ""), machine.files()).run();
    assertThat(found).extracting(Finding::level).containsExactly(OK, WARN, WARN, WARN, WARN);
    assertThat(found.get(1).text())
        .isEqualTo("residents may take 954 MiB for now, because of machine: limited");
    assertThat(found.get(4).fix()).isEqualTo("sysctl vm.max_map_count=516384");
  }

  @Test
  void memory_aboveItsCgroup_fails() throws Exception {
    machine
        .file("proc/41/cgroup", "0::/pod\n")
        .file("proc/41/status", "VmLck:\t 1000 kB\nVmRSS:\t 2000 kB\n")
        .file("sys/fs/cgroup/pod/memory.max", "1000000000\n")
        .file("sys/fs/cgroup/pod/memory.events", "oom 1\noom_kill 2\n");
    PendingAnswers pending = pending(Map.of(), null, "memory  64G  option\n");
    List<Finding> found =
        new DaemonMemoryProbe(subject("/data", 41, 0, 0), pending, machine.files()).run();
    assertThat(found).extracting(Finding::level).containsExactly(OK, WARN, FAIL);
    assertThat(found.get(1).text()).endsWith("want of memory: 2");
  }

  @Test
  void peers_missingAndSuspect_areWarnings() throws Exception {
    int port = freePort();
    Path secret = Files.writeString(temp.resolve("secret"), "0123456789abcdef");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-r--r--"));
    String config =
        "listen  127.0.0.1:7070  option\npeers  127.0.0.1:7070, 127.0.0.1:"
            + port
            + "  option\ncluster-secret-file  "
            + secret
            + "  option\n";
    Map<String, Object> stats =
        Map.of("cluster", Map.of("refusals", Map.of("wrong secret", 4, "too many", 0)));
    Answers answers =
        new Answers(
            stats,
            null,
            List.of(
                Map.of("node", "127.0.0.1:7070", "state", "self"),
                Map.of("node", "other:7070", "state", "suspect")),
            rows(config),
            null);
    List<Finding> found = new PeersProbe(PendingAnswers.of(answers)).run();
    assertThat(found).extracting(Finding::level).containsExactly(FAIL, OK, WARN, WARN, WARN);
    assertThat(found.get(0).fix()).isEqualTo("chmod 600 " + secret);
    assertThat(found.get(4).text()).contains(port + " is not in the view", "refused");
  }

  @Test
  void peers_withAnotherDataset_areAWarningEach() throws Exception {
    Answers answers =
        new Answers(
            Map.of(),
            null,
            List.of(
                Map.of("node", "a:1", "state", "self", "difference", ""),
                Map.of("node", "b:1", "state", "other dataset", "difference", "3 of 4 differ")),
            rows("listen  a:1  option\npeers  a:1,b:1  option\n"),
            null);
    List<Finding> found = new PeersProbe(PendingAnswers.of(answers)).run();
    assertThat(found).extracting(Finding::level).containsExactly(OK, WARN);
    assertThat(found.get(1).text()).isEqualTo("b:1 has another dataset: 3 of 4 differ");
    assertThat(found.get(1).fix()).contains("--dataset-id");
  }

  @Test
  void peers_ofAMountWithoutAny_areNotSpokenOf() throws Exception {
    assertThat(new PeersProbe(pending(Map.of(), null, "listen  -  default\n")).run()).isEmpty();
  }

  @Test
  void log_tellsTheLastError() throws Exception {
    machine.file(
        "logs/x.log",
        """
        2026-11-21T11:00:00.000Z ERROR [a] A: first
        2026-11-21T11:59:00.000Z ERROR [a] A: boom
        	at nowhere
        2026-11-21T11:59:30.000Z INFO  [a] A: fine
        """);
    Finding found = only(log("x").run());
    assertThat(found.level()).isEqualTo(WARN);
    assertThat(found.text()).startsWith("last error ").contains("boom");
    machine.file("logs/y.log", "{\"timestamp\":1795172400000,\"level\":\"ERROR\"}\n");
    Finding old = only(log("y").run());
    assertThat(old.level()).isEqualTo(OK);
    assertThat(old.text()).startsWith("last error ");
    machine.file("logs/z.log", "2026-11-21T11:00:00.000Z INFO  [a] A: ERROR is a word\n");
    assertThat(only(log("z").run()).text()).startsWith("no error lately");
    assertThat(only(log("missing").run()).text()).contains("cannot be read");
  }

  private LogProbe log(String name) {
    Subject subject =
        new Subject(name, Path.of("/data"), null, 0, 41, 0, temp.resolve("s"), temp.resolve("t"));
    return new LogProbe(LogFile.of(subject, machine.files(), temp.resolve("logs")), CLOCK);
  }

  @Test
  void logFile_withoutASupervisor_isThatWhichTheDaemonHasOpen() {
    machine
        .link("proc/41/fd/5", "/elsewhere/holdfast.log")
        .file("proc/41/fdinfo/5", "pos:\t0\nflags:\t0102001\n")
        .link("proc/41/fd/6", "/elsewhere/access.log")
        .file("proc/41/fdinfo/6", "pos:\t0\nflags:\t0102001\n")
        .link("proc/41/fd/7", "/elsewhere/read")
        .file("proc/41/fdinfo/7", "pos:\t0\nflags:\t0100000\n");
    Subject subject = subject("/data", 41, 0, 0);
    assertThat(LogFile.of(subject, machine.files(), temp).path())
        .isEqualTo(Path.of("/elsewhere/holdfast.log"));
  }

  @Test
  void logFile_ofADeadDaemon_isThatOfItsSupervisor() {
    machine.file("state/command", "origin='/o'\nlog='/it'\\''s/x.log'\nset -- a\n");
    assertThat(LogFile.of(subject("/data", 0, 41, 0), machine.files(), temp).path())
        .isEqualTo(Path.of("/it's/x.log"));
  }

  @Test
  void logFile_tail_beginsWithALine() throws Exception {
    machine.file("logs/x.log", "first line\nsecond line\nthird line\n");
    Subject subject = new Subject("x", Path.of("/data"), null, 0, 41, 0, null, null);
    LogFile log = LogFile.of(subject, machine.files(), temp.resolve("logs"));
    assertThat(log.tail(20, Duration.ofSeconds(5))).isEqualTo("third line");
    assertThat(log.tail(100, Duration.ofSeconds(5))).startsWith("first line");
  }

  private static int freePort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private Finding pageToken(Path file) throws InterruptedException {
    String config = "page  9465  option\npage-token-file  " + file + "  option\n";
    PendingAnswers pending = pending(Map.of(), null, config);
    return only(new PageTokenProbe(subject("/data", 41, 0, 40), pending, machine.files()).run());
  }

  /** The daemon is this user's, as the files that a test makes are. */
  @Test
  void pageToken_isReadByItsDaemonAlone() throws Exception {
    process(41, 'S');
    Path file = Files.writeString(temp.resolve("token"), "0123456789abcdef\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    assertThat(pageToken(file))
        .isEqualTo(
            Finding.ok("its token file '" + file + "', mode 600, is read by its daemon alone"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    Finding open = pageToken(file);
    assertThat(open.level()).isEqualTo(FAIL);
    assertThat(open.text()).contains("mode 640, can be read by others");
    assertThat(open.fix()).startsWith("chmod 600 " + file);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.writeString(file, "short");
    assertThat(pageToken(file).text()).contains("has fewer than 16 characters");
    Files.delete(file);
    Finding gone = pageToken(file);
    assertThat(gone.level()).isEqualTo(FAIL);
    assertThat(gone.text()).contains("is gone");
    assertThat(gone.fix()).contains("base64 >" + file);
    assertThat(pageToken(Files.createDirectory(file)).text()).contains("is no regular file");
  }

  @Test
  void pageToken_ofAnotherUser_fails() throws Exception {
    assumeTrue(Procfs.ownUid() == 0, "only root gives files away");
    process(41, 'S');
    Path file = Files.writeString(temp.resolve("token"), "0123456789abcdef\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.setAttribute(file, "unix:uid", 1234);
    Finding other = pageToken(file);
    assertThat(other.level()).isEqualTo(FAIL);
    assertThat(other.text()).contains("is of user 1234, and the daemon of user 0");
    assertThat(other.fix()).startsWith("chown 0 " + file);
    Files.setAttribute(machine.files().path("proc/41"), "unix:uid", 1234);
    assertThat(pageToken(file).level()).isEqualTo(OK);
    Files.setAttribute(file, "unix:uid", 0);
    assertThat(pageToken(file).text()).contains("is of user 0, and the daemon of user 1234");
  }

  @Test
  void pageToken_withoutAPageOrToken_saysNothing() throws Exception {
    process(41, 'S');
    PendingAnswers pending = pending(Map.of(), null, "page  9465  option\n");
    assertThat(new PageTokenProbe(subject("/data", 41, 0, 40), pending, machine.files()).run())
        .isEmpty();
    PendingAnswers silent = trouble(FsError.TIMED_OUT);
    assertThat(new PageTokenProbe(subject("/data", 41, 0, 40), silent, machine.files()).run())
        .isEmpty();
  }

  private void process(long pid, char state) {
    machine.file("proc/" + pid + "/stat", pid + " (java (odd) ) " + state + " 1 1\n");
  }

  private Subject subject(String mountpoint, long pid, long dead, long supervisor) {
    return subject(mountpoint, "/origin", pid, dead, supervisor);
  }

  private Subject subject(String at, String source, long pid, long dead, long supervisor) {
    Path mountpoint = Path.of(at);
    MountTable.Mount mount =
        new MountTable.Mount(1, mountpoint, "0:77", "fuse.holdfast", source, "ro,user_id=7");
    return new Subject(
        "x", mountpoint, mount, pid, dead, supervisor, temp.resolve("s"), temp.resolve("state"));
  }

  private static List<Map<String, Object>> rows(String config) {
    return config
        .lines()
        .map(line -> line.split("\\s{2,}", -1))
        .filter(cells -> !cells[1].equals("-"))
        .map(cells -> Map.<String, Object>of("setting", cells[0], "value", cells[1]))
        .toList();
  }

  private static PendingAnswers pending(
      Map<String, Object> stats, @Nullable Map<String, Object> later, String config) {
    return PendingAnswers.of(new Answers(stats, later, List.of(), rows(config), null));
  }

  private static PendingAnswers trouble(FsError code) {
    return PendingAnswers.of(
        new Answers(null, null, List.of(), List.of(), new FsException(code, "silent")));
  }

  private static Map<String, Object> fetches(Map<String, Object> origin) {
    return Map.of("fetches", Map.of("origin", origin));
  }

  private static Finding only(List<Finding> findings) {
    assertThat(findings).hasSize(1);
    return findings.get(0);
  }
}
