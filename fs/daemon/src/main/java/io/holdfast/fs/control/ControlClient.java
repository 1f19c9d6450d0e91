package io.holdfast.fs.control;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to a daemon through its socket, one connection a request. Every request ends by
 * its deadline, even if the daemon is stopped or stuck. Immutable and thread-safe.
 *
 * <p>All requests fail with {@link FsError#UNAVAILABLE} when no daemon listens, {@link
 * FsError#ACCESS_DENIED} when this user may not connect, {@link FsError#TIMED_OUT} when no answer
 * comes in time, and {@link FsError#IO} when the daemon refuses or its answer is malformed.
 */
public final class ControlClient {
  private static final int BUFFER = 64 * 1024;

  private final Path socket;
  private final Duration deadline;

  /**
   * Creates a client, without a connection yet.
   *
   * @param socket the daemon's socket
   * @param deadline for each request, from connecting to the end of the answer
   */
  public ControlClient(Path socket, Duration deadline) {
    this.socket = socket;
    this.deadline = deadline;
  }

  /** Returns the daemon's figures. */
  public Map<String, Object> stats() throws FsException {
    return object(ask(Map.of(Protocol.COMMAND, Protocol.STATS)).get(Protocol.STATS));
  }

  /** Returns a row for each node of the daemon's cluster; none where it has no peers. */
  public List<Map<String, Object>> peers() throws FsException {
    return rows(Protocol.PEERS);
  }

  /** Returns a row for each of the daemon's effective settings. */
  public List<Map<String, Object>> config() throws FsException {
    return rows(Protocol.CONFIG);
  }

  private List<Map<String, Object>> rows(String command) throws FsException {
    if (!(ask(Map.of(Protocol.COMMAND, command)).get(command) instanceof List<?> list)) {
      throw nonsense(null);
    }
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Object each : list) {
      rows.add(object(each));
    }
    return rows;
  }

  private Map<String, Object> object(@Nullable Object value) throws FsException {
    if (!(value instanceof Map<?, ?> map)) {
      throw nonsense(null);
    }
    Map<String, Object> object = new LinkedHashMap<>();
    map.forEach((key, each) -> object.put(String.valueOf(key), each));
    return object;
  }

  /**
   * Makes the daemon compare an entry and everything below it with the origin.
   *
   * @param path below the mount's root, without a leading slash; empty for everything
   * @return how many entries were different
   */
  public long refresh(String path) throws FsException {
    Map<String, Object> request = Map.of(Protocol.COMMAND, Protocol.REFRESH, Protocol.PATH, path);
    if (!(ask(request).get(Protocol.REFRESHED) instanceof Number count)) {
      throw nonsense(null);
    }
    return count.longValue();
  }

  /**
   * Begins, feeds, stops or follows a task.
   *
   * @param request the request, without the command
   * @return the task's progress
   */
  public Map<String, Object> task(Map<String, Object> request) throws FsException {
    Map<String, Object> all = new LinkedHashMap<>(request);
    all.put(Protocol.COMMAND, Protocol.TASK);
    return object(ask(all).get(Protocol.TASK));
  }

  /**
   * Begins, feeds, takes or forgets the order in which a job will read.
   *
   * @param request the request, without the command
   * @return what the daemon knows of the order
   */
  public Map<String, Object> order(Map<String, Object> request) throws FsException {
    Map<String, Object> all = new LinkedHashMap<>(request);
    all.put(Protocol.COMMAND, Protocol.ORDER);
    return object(ask(all).get(Protocol.ORDER));
  }

  /**
   * Tells the daemon the figures of an allocation.
   *
   * @param request the request, without the command
   * @return the figures that the daemon shows from now on
   */
  public Map<String, Object> allocation(Map<String, Object> request) throws FsException {
    Map<String, Object> all = new LinkedHashMap<>(request);
    all.put(Protocol.COMMAND, Protocol.ALLOCATION);
    return object(ask(all).get(Protocol.ALLOCATION));
  }

  /** Makes the daemon unmount and end; returns when it has accepted the request. */
  public void stop() throws FsException {
    ask(Map.of(Protocol.COMMAND, Protocol.STOP));
  }

  /**
   * Makes the daemon end, so that another one takes over; returns when it has accepted the request.
   */
  public void restart() throws FsException {
    ask(Map.of(Protocol.COMMAND, Protocol.RESTART));
  }

  private Map<String, Object> ask(Map<String, Object> request) throws FsException {
    if (!Files.exists(socket)) {
      throw noDaemon(null);
    }
    if (!Files.isWritable(socket)) {
      throw new FsException(
          FsError.ACCESS_DENIED,
          "the daemon of " + socket + " answers only the user that started it");
    }
    Map<String, Object> answer;
    try {
      answer = Protocol.decode(exchange(Protocol.encode(request)));
    } catch (FsException e) {
      throw e;
    } catch (IOException e) {
      throw nonsense(e);
    }
    if (!Boolean.TRUE.equals(answer.get(Protocol.OK))) {
      throw new FsException(
          FsError.IO, String.valueOf(answer.getOrDefault(Protocol.ERROR, "refused")));
    }
    return answer;
  }

  private byte[] exchange(byte[] request) throws FsException {
    long end = System.nanoTime() + deadline.toNanos();
    try (SocketChannel channel = connect();
        Selector selector = Selector.open()) {
      SelectionKey key = channel.register(selector, SelectionKey.OP_WRITE);
      ByteBuffer out = ByteBuffer.wrap(request);
      while (out.hasRemaining()) {
        await(selector, end);
        channel.write(out);
      }
      key.interestOps(SelectionKey.OP_READ);
      return readLine(channel, selector, end);
    } catch (FsException e) {
      throw e;
    } catch (IOException e) {
      throw new FsException(
          FsError.IO, "the daemon of " + socket + " hung up: " + e.getMessage(), e);
    }
  }

  private SocketChannel connect() throws FsException {
    SocketChannel channel = null;
    try {
      channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      channel.configureBlocking(false);
      channel.connect(UnixDomainSocketAddress.of(socket));
      return channel;
    } catch (IOException e) {
      closeQuietly(channel);
      if (String.valueOf(e.getMessage()).contains("refused")) {
        throw noDaemon(e);
      }
      // The daemon's queue of connections is full.
      throw noAnswer(e);
    }
  }

  private byte[] readLine(SocketChannel channel, Selector selector, long end) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    ByteBuffer in = ByteBuffer.allocate(BUFFER);
    while (line.size() <= Protocol.LARGEST_ANSWER) {
      await(selector, end);
      if (channel.read(in.clear()) < 0) {
        throw new FsException(FsError.IO, "the daemon of " + socket + " hung up");
      }
      int length = in.position();
      boolean complete = length > 0 && in.get(length - 1) == '\n';
      line.write(in.array(), 0, complete ? length - 1 : length);
      if (complete) {
        return line.toByteArray();
      }
    }
    throw nonsense(null);
  }

  private void await(Selector selector, long end) throws IOException {
    long millis = (end - System.nanoTime()) / 1_000_000;
    selector.selectedKeys().clear();
    if (millis <= 0 || selector.select(millis) == 0) {
      throw noAnswer(null);
    }
  }

  private FsException noDaemon(@Nullable IOException cause) {
    return failure(FsError.UNAVAILABLE, "no daemon listens on " + socket, cause);
  }

  private FsException noAnswer(@Nullable IOException cause) {
    return failure(
        FsError.TIMED_OUT,
        "the daemon of " + socket + " gave no answer in " + deadline.toSeconds() + " s",
        cause);
  }

  private FsException nonsense(@Nullable IOException cause) {
    return failure(FsError.IO, "the daemon of " + socket + " gave an answer without sense", cause);
  }

  private static FsException failure(FsError code, String message, @Nullable IOException cause) {
    return cause == null ? new FsException(code, message) : new FsException(code, message, cause);
  }

  private static void closeQuietly(@Nullable SocketChannel channel) {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // The failure to connect matters more.
      }
    }
  }
}
