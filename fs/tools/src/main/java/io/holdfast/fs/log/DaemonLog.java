package io.holdfast.fs.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LevelToSyslogSeverity;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.rolling.RollingFileAppender;
import io.holdfast.fs.accesslog.BoundedFile;
import io.holdfast.fs.figures.LogLine;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.slf4j.LoggerFactory;

/**
 * The daemon's log: a file of at most 10 MB and three older ones, which its owner writes and its
 * group may read, or the error output in the foreground. Names in it are made visible, and what
 * repeats itself is bounded. Configured here and not by a file, which would take a part of the
 * start-up time to look for and read.
 */
public final class DaemonLog {
  private static final long LARGEST_FILE = 10_000_000;

  /** A directory that a group may write, as umask 0002 makes it, is no place for a log. */
  private static final FileAttribute<?> MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** One line an event, whatever is in the message; then the stack trace. */
  private static final String PATTERN =
      "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level [%thread] %logger{0}: %visible%n%trace";

  private static final String JOURNAL_PATTERN = "%priority[%thread] %logger{0}: %visible%n%trace";

  private DaemonLog() {}

  /**
   * Sends the log to the error output.
   *
   * @param toJournal whether that leads to the systemd journal, which has times of its own and
   *     takes the level from a number in front
   */
  public static void toErrorOutput(LogLevel level, LogFormat format, boolean toJournal) {
    LoggerContext context = emptied();
    String pattern = toJournal ? JOURNAL_PATTERN : PATTERN;
    install(
        context, errorOutput(), format == LogFormat.JSON ? json() : text(context, pattern), level);
  }

  /**
   * Sends warnings to the error output, while Logback is just starting and cannot be asked for its
   * context.
   */
  static void begin(LoggerContext context) {
    install(context, errorOutput(), text(context, PATTERN), LogLevel.WARN);
  }

  private static ConsoleAppender<ILoggingEvent> errorOutput() {
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setTarget("System.err");
    return appender;
  }

  /**
   * Sends the log to a file, behind what is there. Creates its directories for this user alone.
   *
   * @throws IOException when it cannot be written
   */
  public static void toFile(Path file, LogLevel level, LogFormat format) throws IOException {
    Path directory = file.getParent();
    if (directory != null && !Files.isDirectory(directory)) {
      Files.createDirectories(directory, MODE);
    }
    LoggerContext context = emptied();
    RollingFileAppender<ILoggingEvent> appender = BoundedFile.appender(context, file, LARGEST_FILE);
    install(context, appender, format == LogFormat.JSON ? json() : text(context, PATTERN), level);
  }

  /** Returns the last warnings and errors of this process, the newest first. */
  public static List<LogLine> recent() {
    return root(context()).getAppender(RecentLines.NAME) instanceof RecentLines lines
        ? lines.newestFirst()
        : List.of();
  }

  /** Writes what is still to be written. */
  public static void close() {
    context().stop();
  }

  private static LoggerContext emptied() {
    LoggerContext context = context();
    context.reset();
    return context;
  }

  private static LoggerContext context() {
    return (LoggerContext) LoggerFactory.getILoggerFactory();
  }

  /** What is the same for all events of a daemon, or empty for all, is left out. */
  private static Encoder<ILoggingEvent> json() {
    JsonEncoder encoder = new VisibleEvents.Json();
    encoder.setWithSequenceNumber(false);
    encoder.setWithNanoseconds(false);
    encoder.setWithContext(false);
    encoder.setWithMarkers(false);
    encoder.setWithMDC(false);
    encoder.setWithKVPList(false);
    encoder.setWithMessage(false);
    encoder.setWithArguments(false);
    encoder.setWithFormattedMessage(true);
    return encoder;
  }

  private static Encoder<ILoggingEvent> text(LoggerContext context, String pattern) {
    PatternLayout layout = new PatternLayout();
    layout.setContext(context);
    layout.getInstanceConverterMap().put("priority", Priority::new);
    layout.getInstanceConverterMap().put("visible", VisibleEvents.Message::new);
    layout.getInstanceConverterMap().put("trace", VisibleEvents.Trace::new);
    layout.setPattern(pattern);
    layout.start();
    LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
    encoder.setLayout(layout);
    encoder.setCharset(StandardCharsets.UTF_8);
    return encoder;
  }

  /** The level as the journal reads it at the beginning of a line: {@code <4>} for a warning. */
  private static final class Priority extends ClassicConverter {
    @Override
    public String convert(ILoggingEvent event) {
      return "<" + LevelToSyslogSeverity.convert(event) + ">";
    }
  }

  private static void install(
      LoggerContext context,
      OutputStreamAppender<ILoggingEvent> appender,
      Encoder<ILoggingEvent> encoder,
      LogLevel level) {
    encoder.setContext(context);
    encoder.start();
    appender.setContext(context);
    appender.setEncoder(encoder);
    appender.start();
    Level own = Level.toLevel(level.name());
    Level others = own.isGreaterOrEqual(Level.WARN) ? own : Level.WARN;
    ch.qos.logback.classic.Logger root = root(context);
    root.setLevel(others);
    root.addAppender(appender);
    RecentLines recent = new RecentLines();
    recent.setContext(context);
    recent.start();
    root.addAppender(recent);
    RepeatedLines bound = new RepeatedLines(System::nanoTime);
    bound.setContext(context);
    bound.start();
    context.addTurboFilter(bound);
    context.getLogger("io.holdfast").setLevel(own);
  }

  private static ch.qos.logback.classic.Logger root(LoggerContext context) {
    return context.getLogger(ch.qos.logback.classic.Logger.ROOT_LOGGER_NAME);
  }
}
