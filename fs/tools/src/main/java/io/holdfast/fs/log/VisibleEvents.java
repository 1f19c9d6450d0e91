package io.holdfast.fs.log;

import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import io.holdfast.fs.units.Visible;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Parts of the log's layout that make {@link Visible} what users can name: files, processes, keys,
 * nodes. So no name makes a second line, or is obeyed by the terminal that shows the log.
 * Stateless.
 */
final class VisibleEvents {
  private VisibleEvents() {}

  /** The message, on one line. */
  static final class Message extends ClassicConverter {
    @Override
    public String convert(ILoggingEvent event) {
      return Visible.of(String.valueOf(event.getFormattedMessage()));
    }
  }

  /** The stack trace, where there is one, with the messages in it on one line each. */
  static final class Trace extends ThrowableProxyConverter {
    @Override
    protected String throwableProxyToString(IThrowableProxy thrown) {
      return super.throwableProxyToString(new VisibleThrowable(thrown));
    }
  }

  /** An event as JSON. */
  static final class Json extends JsonEncoder {
    @Override
    public byte[] encode(ILoggingEvent event) {
      String json = new String(super.encode(event), StandardCharsets.UTF_8);
      return Visible.json(json).getBytes(StandardCharsets.UTF_8);
    }
  }

  /** An exception with another message. */
  private record VisibleThrowable(IThrowableProxy thrown) implements IThrowableProxy {
    private static @Nullable IThrowableProxy of(@Nullable IThrowableProxy thrown) {
      return thrown == null ? null : new VisibleThrowable(thrown);
    }

    @Override
    public @Nullable String getMessage() {
      return thrown.getMessage() == null ? null : Visible.of(thrown.getMessage());
    }

    @Override
    public @Nullable String getOverridingMessage() {
      String message = thrown.getOverridingMessage();
      return message == null ? null : Visible.of(message);
    }

    @Override
    public String getClassName() {
      return thrown.getClassName();
    }

    @Override
    public StackTraceElementProxy[] getStackTraceElementProxyArray() {
      return thrown.getStackTraceElementProxyArray();
    }

    @Override
    public int getCommonFrames() {
      return thrown.getCommonFrames();
    }

    @Override
    public @Nullable IThrowableProxy getCause() {
      return of(thrown.getCause());
    }

    @Override
    public IThrowableProxy[] getSuppressed() {
      return Arrays.stream(thrown.getSuppressed())
          .map(VisibleThrowable::new)
          .toArray(IThrowableProxy[]::new);
    }

    @Override
    public boolean isCyclic() {
      return thrown.isCyclic();
    }
  }
}
