package io.holdfast.fs.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server and the client together, over a real socket. */
class ControlServerTest {
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  @TempDir Path temp;
  private final CountDownLatch stopped = new CountDownLatch(1);

  /** Opened when slow requests are to end. */
  private final CountDownLatch answer = new CountDownLatch(1);

  private final AtomicInteger slow = new AtomicInteger();
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : open) {
      resource.close();
    }
  }

  @Test
  void stats_asked_comeAsTheyAre() throws IOException {
    start();
    assertThat(client().stats())
        .containsEntry("name", "träume \"1\"\n")
        .containsEntry("opens", Map.of("counted", true, "total", 5_000_000_000L));
  }

  @Test
  void config_asked_comesAsRows() throws IOException {
    start();
    assertThat(client().config()).containsExactly(Map.of("setting", "pin", "value", "auto"));
  }

  @Test
  void refresh_path_isPassedOn() throws IOException {
    start();
    assertThat(client().refresh("train/ä b")).isEqualTo("train/ä b".length());
    assertThat(client().refresh("")).isZero();
  }

  @Test
  void refresh_refused_tellsWhy() throws IOException {
    start();
    assertThatThrownBy(() -> client().refresh("missing"))
        .isInstanceOf(FsException.class)
        .hasMessage("there is no 'missing'")
        .extracting(e -> ((FsException) e).code())
        .isEqualTo(FsError.IO);
  }

  /**
   * Four refreshes of a source that hung, or four lists of millions of files, took the socket away
   * from all other commands.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"command\":\"refresh\",\"path\":\"slow\"}",
        "{\"command\":\"order\",\"job\":\"slow\"}"
      })
  void requests_thatTakeLong_leaveTheSocketToOthers(String request) throws IOException {
    start();
    int many = 8;
    try {
      for (int i = 0; i < many; i++) {
        SocketChannel channel = connect();
        open.add(channel);
        channel.write(ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8)));
      }
      Await.until("all have begun", () -> slow.get() == many);
      assertThat(client().config()).isNotEmpty();
    } finally {
      answer.countDown();
      Await.until("all have ended", () -> slow.get() == 0);
    }
  }

  @Test
  void peers_rows_arriveInTheirOrder() throws IOException {
    start();
    assertThat(client().peers())
        .containsExactly(Map.of("node", "a:1", "errors", 2), Map.of("node", "b:1"));
  }

  @Test
  void restart_asked_isAnsweredAndDone() throws Exception {
    start();
    client().restart();
    assertThat(stopped.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void restart_impossible_isRefused() throws Exception {
    start();
    stopped.countDown();
    assertThatThrownBy(() -> client().restart()).hasMessage("ended already");
  }

  @Test
  void stop_asked_isAnsweredAndDone() throws Exception {
    start();
    client().stop();
    assertThat(stopped.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void command_thatFails_isAnsweredWithOneLine() throws IOException {
    start();
    assertThat(exchange("{\"command\":\"refresh\",\"path\":\"bug\"}\n"))
        .contains("\"ok\":false")
        .contains("internal error");
  }

  @Test
  void request_withoutSense_isRefused() throws IOException {
    start();
    for (String request : List.of("\n", "x\n", "[]\n", "{}\n", "{\"command\":1}\n", "\0\n")) {
      assertThat(exchange(request)).startsWith("{\"ok\":false,\"error\":");
    }
    assertThat(exchange("{\"command\":\"format\"}\n")).contains("unknown command 'format'");
  }

  @Test
  void request_longerThanAllowed_isRefusedAndHungUp() throws IOException {
    start();
    assertThat(exchange("x".repeat(Protocol.LARGEST_REQUEST + 1))).contains("is longer than 65536");
  }

  @Test
  void connection_severalRequests_areAllAnswered() throws IOException {
    start();
    String answers = exchange("{\"command\":\"config\"}\n{\"command\":\"config\"}\nx\n");
    assertThat(answers.lines()).hasSize(3);
  }

  @Test
  void connection_thatSendsNothing_isClosedAtItsDeadline() throws Exception {
    start(Duration.ofMillis(100));
    try (SocketChannel silent = connect()) {
      assertThat(silent.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }
  }

  @Test
  void connections_moreThanThreads_delayOthersOnlyToTheDeadline() throws Exception {
    start(Duration.ofSeconds(2));
    List<SocketChannel> silent = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      silent.add(connect());
    }
    assertThat(client().config()).isNotEmpty();
    for (SocketChannel channel : silent) {
      channel.close();
    }
  }

  @Test
  void directory_created_isOpenAndTheSocketIsNot() throws IOException {
    start();
    assertThat(Files.getPosixFilePermissions(temp.resolve("run")))
        .isEqualTo(PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(Files.getPosixFilePermissions(directory().socket("a")))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    assertThat(Files.getPosixFilePermissions(directory().processFile("a")))
        .isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
    // a user who can open a file can lock it
    assertThat(Files.getPosixFilePermissions(directory().lockFile("a")))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    assertThat(Files.readString(directory().processFile("a")))
        .isEqualTo(ProcessHandle.current().pid() + "\n/mnt/a\n");
  }

  @Test
  void close_server_leavesNothingBehind() throws IOException {
    ControlServer server = start();
    client().config();
    server.close();
    server.close();
    assertThat(temp.resolve("run")).isEmptyDirectory();
    assertThatThrownBy(() -> client().config())
        .isInstanceOf(FsException.class)
        .extracting(e -> ((FsException) e).code())
        .isEqualTo(FsError.UNAVAILABLE);
  }

  @Test
  void start_nameOfALivingDaemon_isRefusedAndHarmless() throws IOException {
    start();
    assertThatThrownBy(this::start)
        .isInstanceOf(FsException.class)
        .hasMessageContaining("the name 'a' is in use by another mount at /mnt/a: choose another");
    assertThat(client().config()).isNotEmpty();
  }

  /**
   * The lock of a killed daemon stays while one of its threads waits for a source that does not
   * answer. No next daemon could start, and the supervisor gave the mount up.
   */
  @Test
  void start_nameThatAKilledDaemonKeeps_takesIt() throws IOException {
    Path lock = directory().lockFile("a");
    Files.createDirectory(directory().path());
    try (Zombie killed = new Zombie();
        FileChannel kept =
            FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      assertThat(kept.tryLock()).isNotNull();
      Files.writeString(directory().processFile("a"), killed.pid() + "\n/mnt/a\n");
      assertThatThrownBy(this::start).hasMessageContaining("in use");

      killed.kill();

      start();
      assertThat(client().config()).isNotEmpty();
      assertThatThrownBy(this::start).as("the lock is held").hasMessageContaining("in use");
    }
  }

  /** The thread that accepts ended at the first failure of this kind: no command was answered. */
  @Test
  void accept_failsForWantOfMemory_takesTheNextConnection() throws IOException {
    AtomicInteger taken = new AtomicInteger();
    try (SocketChannel connection = SocketChannel.open(StandardProtocolFamily.UNIX);
        FailingListener listener = new FailingListener(connection)) {
      ControlServer.accept(listener, each -> taken.incrementAndGet());
    }
    assertThat(taken).hasValue(1);
  }

  @Test
  void start_leftoversOfADeadDaemon_areReplaced() throws IOException {
    Files.createDirectories(temp.resolve("run/.a"));
    Files.writeString(directory().processFile("a"), "999999999\n/somewhere/else/much/longer\n");
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(directory().socket("a")));
    }
    start();
    assertThat(client().config()).isNotEmpty();
    assertThat(Files.readString(directory().processFile("a"))).endsWith("\n/mnt/a\n");
  }

  @Test
  void start_directoryThatCannotBe_isRefused() throws IOException {
    Files.createFile(temp.resolve("run"));
    assertThatThrownBy(this::start)
        .isInstanceOf(FsException.class)
        .hasMessageContaining("cannot be");
  }

  @Test
  void ask_listenerThatNeverAnswers_endsAtTheDeadline() throws IOException {
    Path socket = temp.resolve("s");
    try (ServerSocketChannel stuck = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      stuck.bind(UnixDomainSocketAddress.of(socket));
      ControlClient client = new ControlClient(socket, Duration.ofMillis(200));
      assertThatThrownBy(client::stats)
          .isInstanceOf(FsException.class)
          .extracting(e -> ((FsException) e).code())
          .isEqualTo(FsError.TIMED_OUT);
    }
  }

  @Test
  void ask_listenerWithAFullQueue_endsAtTheDeadline() throws IOException {
    Path socket = temp.resolve("s");
    List<SocketChannel> waiting = new ArrayList<>();
    try (ServerSocketChannel stuck = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      stuck.bind(UnixDomainSocketAddress.of(socket), 1);
      for (int i = 0; i < 2; i++) {
        waiting.add(SocketChannel.open(UnixDomainSocketAddress.of(socket)));
      }
      ControlClient client = new ControlClient(socket, Duration.ofMillis(200));
      assertThatThrownBy(client::stats)
          .isInstanceOf(FsException.class)
          .extracting(e -> ((FsException) e).code())
          .isEqualTo(FsError.TIMED_OUT);
    } finally {
      for (SocketChannel channel : waiting) {
        channel.close();
      }
    }
  }

  @Test
  void ask_listenerThatHangsUp_fails() throws Exception {
    Path socket = temp.resolve("s");
    try (ServerSocketChannel rude = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      rude.bind(UnixDomainSocketAddress.of(socket));
      Thread thread =
          new Thread(
              () -> {
                try {
                  rude.accept().close();
                } catch (IOException e) {
                  // Closed by the end of the test.
                }
              });
      thread.start();
      assertThatThrownBy(() -> new ControlClient(socket, DEADLINE).stats())
          .isInstanceOf(FsException.class)
          .hasMessageContaining("hung up");
      thread.join();
    }
  }

  private ControlServer start() throws FsException {
    return start(DEADLINE);
  }

  private ControlServer start(Duration deadline) throws FsException {
    ControlServer server =
        ControlServer.start(directory(), "a", Path.of("/mnt/a"), new Commands(), deadline);
    open.add(server);
    return server;
  }

  private ControlDirectory directory() {
    return ControlDirectory.at(temp.resolve("run"));
  }

  private ControlClient client() {
    return new ControlClient(directory().socket("a"), DEADLINE);
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(directory().socket("a")));
  }

  /** Sends text, then nothing more, and returns all answers. */
  private String exchange(String request) throws IOException {
    try (SocketChannel channel = connect()) {
      channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8)));
      channel.shutdownOutput();
      byte[] answers = Channels.newInputStream(channel).readAllBytes();
      return new String(answers, StandardCharsets.UTF_8);
    }
  }

  /** Fails for want of memory, accepts a connection, and is closed then. */
  private static final class FailingListener extends ServerSocketChannel {
    private final SocketChannel connection;
    private int calls;

    FailingListener(SocketChannel connection) {
      super(SelectorProvider.provider());
      this.connection = connection;
    }

    @Override
    public SocketChannel accept() throws IOException {
      calls++;
      if (calls == 1) {
        throw new OutOfMemoryError("made for the test");
      }
      if (calls > 2) {
        throw new ClosedChannelException();
      }
      return connection;
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> T getOption(SocketOption<T> name) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
      return Set.of();
    }

    @Override
    public ServerSocket socket() {
      throw new UnsupportedOperationException();
    }

    @Override
    public SocketAddress getLocalAddress() {
      throw new UnsupportedOperationException();
    }

    @Override
    protected void implCloseSelectableChannel() {}

    @Override
    protected void implConfigureBlocking(boolean block) {}
  }

  private final class Commands implements ControlCommands {
    @Override
    public Map<String, Object> stats() {
      return Map.of(
          "name", "träume \"1\"\n", "opens", Map.of("counted", true, "total", 5_000_000_000L));
    }

    @Override
    public List<Map<String, Object>> peers() {
      return List.of(Map.of("node", "a:1", "errors", 2), Map.of("node", "b:1"));
    }

    @Override
    public long refresh(String path) throws IOException {
      if (path.equals("missing")) {
        throw new FsException(FsError.NOT_FOUND, "there is no 'missing'");
      }
      if (path.equals("bug")) {
        throw new IllegalStateException("bug");
      }
      if (path.equals("slow")) {
        takeLong();
      }
      return path.length();
    }

    @Override
    public Map<String, Object> task(Map<String, Object> request) {
      return Map.of("asked", request);
    }

    @Override
    public Map<String, Object> order(Map<String, Object> request) {
      if ("slow".equals(request.get("job"))) {
        takeLong();
      }
      return Map.of();
    }

    private void takeLong() {
      slow.incrementAndGet();
      Await.latch(answer);
      slow.decrementAndGet();
    }

    @Override
    public Map<String, Object> allocation(Map<String, Object> request) {
      return Map.of();
    }

    @Override
    public void stop() {
      stopped.countDown();
    }

    @Override
    public Runnable restart() throws FsException {
      if (stopped.getCount() == 0) {
        throw new FsException(FsError.UNSUPPORTED, "ended already");
      }
      return stopped::countDown;
    }

    @Override
    public List<Map<String, Object>> config() {
      return List.of(Map.of("setting", "pin", "value", "auto"));
    }
  }
}
