package io.holdfast.fs.control;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.NamedThreads;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens on a daemon's unix socket and passes requests to its {@link ControlCommands}. Only the
 * daemon's user may connect (mode 0600). The server closes a connection that does not send a whole
 * request or read its answer in time, and refuses a connection too many. While a worker refreshes
 * or takes a list of files, another one takes its place. So no client can hold up the others for
 * long.
 *
 * <p>Thread-safe. {@link #close()} is idempotent and removes all files of the server.
 */
public final class ControlServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);

  private static final int THREADS = 4;

  /** Most workers that are replaced while they do what takes long. */
  private static final int MOST_REPLACED = 16;

  /** So that each rank of a node may ask at the same moment. Only this user can connect. */
  private static final int WAITING_CONNECTIONS = 64;

  private static final Duration DEADLINE = Duration.ofSeconds(10);

  /** Something that takes long. */
  @FunctionalInterface
  private interface Command<T> {
    T perform() throws IOException;
  }

  /** Takes a connection. */
  @FunctionalInterface
  interface Taker {
    void take(SocketChannel connection) throws IOException;
  }

  private final ControlCommands commands;
  private final Duration deadline;
  private final NameLock lock;
  private final Path socket;
  private final ServerSocketChannel listener;
  private final ThreadPoolExecutor workers;
  private final ScheduledThreadPoolExecutor watchdog;

  /** Workers that do what takes long; the monitor guards it, and the number of workers. */
  private int replaced;

  private ControlServer(
      ControlCommands commands,
      Duration deadline,
      NameLock lock,
      Path socket,
      ServerSocketChannel listener) {
    this.commands = commands;
    this.deadline = deadline;
    this.lock = lock;
    this.socket = socket;
    this.listener = listener;
    workers =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(WAITING_CONNECTIONS),
            new NamedThreads("control"));
    workers.allowCoreThreadTimeOut(true);
    watchdog = new ScheduledThreadPoolExecutor(1, new NamedThreads("control-deadline"));
    watchdog.setRemoveOnCancelPolicy(true);
  }

  /**
   * Claims the name and starts to listen.
   *
   * @param directory the directory of socket and process file; created when missing
   * @param name the mount's name
   * @param mountpoint written for processes that look for the daemon of a mountpoint
   * @param commands perform the requests
   * @throws FsException when a living daemon has the name, or the socket cannot be created
   */
  public static ControlServer start(
      ControlDirectory directory, String name, Path mountpoint, ControlCommands commands)
      throws FsException {
    return start(directory, name, mountpoint, commands, DEADLINE);
  }

  static ControlServer start(
      ControlDirectory directory,
      String name,
      Path mountpoint,
      ControlCommands commands,
      Duration deadline)
      throws FsException {
    directory.create();
    NameLock lock = NameLock.acquire(directory, name, mountpoint);
    Path socket = directory.socket(name);
    try {
      ServerSocketChannel listener = listen(directory.path(), name, socket);
      ControlServer server = new ControlServer(commands, deadline, lock, socket, listener);
      NamedThreads.start("control-accept", () -> accept(listener, server::take));
      return server;
    } catch (IOException | UnsupportedOperationException e) {
      closeQuietly(lock);
      throw new FsException(
          FsError.ACCESS_DENIED,
          "the control socket " + socket + " cannot be created: " + e.getMessage(),
          e);
    }
  }

  /**
   * Binds in a directory that only this user can enter, and then moves the socket to its place. So
   * the socket never has another mode than 0600, and replaces the socket of a dead daemon
   * atomically.
   */
  private static ServerSocketChannel listen(Path directory, String name, Path socket)
      throws IOException {
    Path closed = directory.resolve("." + name);
    Path fresh = closed.resolve("s");
    Files.deleteIfExists(fresh);
    Files.deleteIfExists(closed);
    Files.createDirectory(
        closed, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      listener.bind(UnixDomainSocketAddress.of(fresh));
      Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rw-------"));
      Files.move(fresh, socket, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      listener.close();
      Files.deleteIfExists(fresh);
      throw e;
    } finally {
      Files.deleteIfExists(closed);
    }
    return listener;
  }

  /** Passes each connection on until the listener is closed. */
  static void accept(ServerSocketChannel listener, Taker taker) {
    while (listener.isOpen()) {
      try {
        taker.take(listener.accept());
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException e) {
        // Out of descriptors, most likely: others may be closed meanwhile.
        LOG.warn("control socket: a connection could not be accepted", e);
        pause();
      } catch (RuntimeException | Error e) { // without this thread, no command is answered
        OutOfMemory.tell(LOG, "control socket: a connection could not be accepted", e);
        pause();
      }
    }
  }

  private void take(SocketChannel connection) throws IOException {
    try {
      workers.execute(() -> serve(connection));
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      LOG.debug("no thread for a connection: it is closed", e);
      connection.close();
    }
  }

  private void serve(SocketChannel connection) {
    try (connection;
        InputStream in = new BufferedInputStream(Channels.newInputStream(connection))) {
      boolean open = true;
      while (open) {
        open = serveOne(connection, in);
      }
      // Threads with their own descriptor table may hold copies of the descriptor, so closing it
      // may not end the connection.
      connection.shutdownOutput();
    } catch (IOException | RejectedExecutionException e) {
      // The other side has gone, or this server has been closed.
      LOG.debug("control connection ended", e);
    } catch (RuntimeException e) {
      LOG.error("control connection failed", e);
    }
  }

  /** Answers one request; returns whether another may follow. */
  private boolean serveOne(SocketChannel connection, InputStream in) throws IOException {
    byte[] request;
    ScheduledFuture<?> end = closeAfterDeadline(connection);
    try {
      request = Protocol.readLine(in, Protocol.LARGEST_REQUEST);
    } catch (FsException e) {
      end.cancel(false);
      send(connection, failure(e.getMessage()));
      return false;
    }
    end.cancel(false);
    if (request == null) {
      return false;
    }
    Map<String, Object> answer = answer(request);
    Object then = answer.remove(Protocol.THEN);
    send(connection, answer);
    if (then instanceof Runnable stop) {
      // After the answer, because the command closes this server.
      try {
        NamedThreads.start("control-stop", stop);
      } catch (OutOfMemoryError e) {
        LOG.debug("no thread for the command: it runs on the connection's thread", e);
        stop.run();
      }
      return false;
    }
    return true;
  }

  private void send(SocketChannel connection, Map<String, Object> answer) throws IOException {
    ScheduledFuture<?> end = closeAfterDeadline(connection);
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Protocol.encode(answer));
      while (bytes.hasRemaining()) {
        connection.write(bytes);
      }
    } finally {
      end.cancel(false);
    }
  }

  private Map<String, Object> answer(byte[] request) {
    try {
      return perform(Protocol.decode(request));
    } catch (IOException e) {
      String message = String.valueOf(e.getMessage());
      return failure(message.lines().findFirst().orElse("failed"));
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
      return failure(OutOfMemory.describe(e));
    } catch (RuntimeException e) {
      LOG.error("control command failed", e);
      return failure("internal error: " + e + ": see the log");
    }
  }

  private Map<String, Object> perform(Map<String, Object> request) throws IOException {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put(Protocol.OK, true);
    String command = String.valueOf(request.get(Protocol.COMMAND));
    switch (command) {
      case Protocol.STATS -> answer.put(Protocol.STATS, commands.stats());
      case Protocol.CONFIG -> answer.put(Protocol.CONFIG, commands.config());
      case Protocol.PEERS -> answer.put(Protocol.PEERS, commands.peers());
      case Protocol.REFRESH -> {
        String path = String.valueOf(request.getOrDefault(Protocol.PATH, ""));
        answer.put(Protocol.REFRESHED, longer(() -> commands.refresh(path)));
      }
      case Protocol.TASK -> answer.put(Protocol.TASK, commands.task(request));
      case Protocol.ORDER -> answer.put(Protocol.ORDER, longer(() -> commands.order(request)));
      case Protocol.ALLOCATION -> answer.put(Protocol.ALLOCATION, commands.allocation(request));
      case Protocol.STOP -> answer.put(Protocol.THEN, (Runnable) commands::stop);
      case Protocol.RESTART -> answer.put(Protocol.THEN, commands.restart());
      default -> {
        return failure("unknown command '" + command + "'");
      }
    }
    return answer;
  }

  /**
   * Has another thread answer meanwhile: a refresh takes as long as the dataset and its store need,
   * and a list of millions of files some seconds.
   */
  private <T> T longer(Command<T> command) throws IOException {
    try {
      count(1);
      return command.perform();
    } finally {
      count(-1);
    }
  }

  private synchronized void count(int more) {
    replaced += more;
    int threads = THREADS + Math.min(replaced, MOST_REPLACED);
    if (threads > workers.getMaximumPoolSize()) {
      workers.setMaximumPoolSize(threads);
      workers.setCorePoolSize(threads);
    } else {
      workers.setCorePoolSize(threads);
      workers.setMaximumPoolSize(threads);
    }
  }

  private static Map<String, Object> failure(@Nullable String message) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put(Protocol.OK, false);
    answer.put(Protocol.ERROR, String.valueOf(message));
    return answer;
  }

  private ScheduledFuture<?> closeAfterDeadline(SocketChannel connection) {
    return watchdog.schedule(
        () -> closeQuietly(connection), deadline.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Tells processes that look for the daemon of a mountpoint that the mount is elsewhere now. */
  public void moved(Path mountpoint) {
    try {
      lock.tell(mountpoint);
    } catch (IOException e) {
      LOG.warn("commands do not find the mount at {}: the name still does", mountpoint, e);
    }
  }

  /** Stops listening, ends the connections and removes socket and process file. */
  @Override
  public void close() {
    closeQuietly(listener);
    workers.shutdownNow();
    watchdog.shutdownNow();
    try {
      Files.deleteIfExists(socket);
    } catch (IOException e) {
      LOG.warn("the control socket {} could not be removed", socket, e);
    }
    closeQuietly(lock);
  }

  private static void closeQuietly(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Exception e) {
      LOG.debug("closing failed", e);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
