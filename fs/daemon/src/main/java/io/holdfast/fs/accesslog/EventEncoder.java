package io.holdfast.fs.accesslog;

import ch.qos.logback.core.encoder.EncoderBase;
import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.FsError;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * Writes an event as a line of JSON. An event that there is no memory for is dropped: the thread
 * that writes would end. Used by one thread.
 */
final class EventEncoder extends EncoderBase<AccessLogWriter.Line> {
  private static final byte[] NOTHING = {};

  private final IntFunction<AccessLogWriter.Who> who;
  private final Runnable encoded;
  private final Runnable dropped;

  /**
   * Creates an encoder.
   *
   * @param encoded called for each event that becomes a line
   * @param dropped called for each event that does not
   */
  EventEncoder(IntFunction<AccessLogWriter.Who> who, Runnable encoded, Runnable dropped) {
    this.who = who;
    this.encoded = encoded;
    this.dropped = dropped;
  }

  @Override
  public byte[] encode(AccessLogWriter.Line line) {
    try {
      byte[] text = text(line);
      encoded.run();
      return text;
    } catch (OutOfMemoryError e) {
      dropped.run();
      OutOfMemory.tell(e);
      return NOTHING;
    }
  }

  private byte[] text(AccessLogWriter.Line line) {
    AccessEvent event = line.event();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("time", Instant.ofEpochMilli(line.millis()).toString());
    fields.put("event", text(event.kind()));
    if (event.thread() != 0) {
      AccessLogWriter.Who reader = who.apply(event.thread());
      fields.put("pid", reader.pid());
      if (!reader.job().isEmpty()) {
        fields.put("job", reader.job());
      }
    }
    fields.put("path", String.valueOf(event.path().get()));
    fields.put("offset", event.offset());
    fields.put("length", event.length());
    if (event.source() != null) {
      fields.put("source", text(event.source()));
    }
    fields.put("microseconds", TimeUnit.NANOSECONDS.toMicros(event.nanos()));
    FsError failure = event.failure();
    fields.put("result", failure == null ? "ok" : text(failure));
    try {
      return (Visible.json(JSON.std.asString(fields)) + "\n").getBytes(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }
}
