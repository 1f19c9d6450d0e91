package io.holdfast.fs.accesslog;

import ch.qos.logback.core.AsyncAppenderBase;
import ch.qos.logback.core.ContextBase;
import ch.qos.logback.core.OutputStreamAppender;
import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.AccessLog;
import io.holdfast.fs.figures.AccessLogFigures;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * Writes each chosen event as a JSON object in a line: to a file of at most 50 MB, with three older
 * files, or to a Unix socket that a program listens at. Events wait in a bounded queue for the one
 * thread that writes. An event that does not fit is dropped and counted, so no reader ever waits
 * for a disk. Thread-safe.
 */
public final class AccessLogWriter implements AccessLog, AutoCloseable {
  /** The fates of an event: the keys of {@link #figures()}. */
  public static final List<String> FATES = List.of("written", "sampled_out", "dropped");

  private static final long LARGEST_FILE = 50_000_000;
  private static final int QUEUE = 4096;
  private static final int FLUSH_MILLIS = 1000;

  private final Sampling.Chooser chooser;
  private final LongAdder written = new LongAdder();
  private final LongAdder sampledOut = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final Queue queue;

  /** An event and the moment when it ended, in milliseconds since 1970. */
  record Line(long millis, AccessEvent event) {}

  /** The process and job of a thread, as far as they are known. */
  public record Who(int pid, String job) {}

  /** The kinds of logs. */
  public enum Kind {
    /** A file, to which the log is appended. */
    FILE,
    /** A socket at which a program must listen now. */
    SOCKET_WITH_LISTENER,
    /** A socket that may be missing: events are dropped until a program listens. */
    SOCKET
  }

  /** Tells whether there is a socket now. */
  public static boolean isSocket(Path file) throws IOException {
    return SocketStream.isSocket(file);
  }

  /**
   * Opens the log.
   *
   * @param who finds a thread's process and job; called by the thread that writes
   * @param nanoTime a clock of nanoseconds
   * @throws IOException if the file cannot be written, or nobody listens
   */
  public AccessLogWriter(
      Path file, Kind kind, Sampling sampling, IntFunction<Who> who, LongSupplier nanoTime)
      throws IOException {
    chooser = sampling.chooser(nanoTime);
    ContextBase context = new ContextBase();
    context.setName("access-log");
    OutputStreamAppender<Line> appender =
        kind == Kind.FILE
            ? BoundedFile.appender(context, file, LARGEST_FILE)
            : socket(context, file, kind == Kind.SOCKET_WITH_LISTENER, nanoTime);
    EventEncoder encoder =
        new EventEncoder(
            who, kind == Kind.FILE ? written::increment : () -> {}, dropped::increment);
    encoder.start();
    appender.setEncoder(encoder);
    appender.start();
    queue = new Queue();
    queue.setContext(context);
    queue.addAppender(appender);
    queue.setQueueSize(QUEUE);
    queue.setDiscardingThreshold(0);
    queue.setNeverBlock(true);
    queue.setMaxFlushTime(FLUSH_MILLIS);
    queue.start();
  }

  private OutputStreamAppender<Line> socket(
      ContextBase context, Path file, boolean mustListen, LongSupplier nanoTime)
      throws IOException {
    SocketStream stream =
        new SocketStream(file, nanoTime, taken -> (taken ? written : dropped).increment());
    if (mustListen) {
      stream.connect();
    }
    OutputStreamAppender<Line> appender = new OutputStreamAppender<>();
    appender.setContext(context);
    appender.setOutputStream(stream);
    return appender;
  }

  /** Counts the events that do not fit: the library's queue drops them silently. */
  private final class Queue extends AsyncAppenderBase<Line> {
    @Override
    protected void append(Line line) {
      if (getRemainingCapacity() == 0) {
        dropped.increment();
      } else {
        super.append(line);
      }
    }
  }

  @Override
  public boolean wantsNext() {
    boolean wanted = chooser.next();
    if (!wanted) {
      sampledOut.increment();
    }
    return wanted;
  }

  @Override
  public void add(AccessEvent event) {
    queue.doAppend(new Line(System.currentTimeMillis(), event));
  }

  /** Returns the numbers of events that were written, sampled out and dropped. */
  public AccessLogFigures figures() {
    return new AccessLogFigures(written.sum(), sampledOut.sum(), dropped.sum());
  }

  /** Writes the events that wait, for a second at most. */
  @Override
  public void close() {
    queue.stop();
  }
}
