package io.holdfast.fs.daemon;

import io.holdfast.fs.accesslog.Sampling;
import io.holdfast.peer.NodeAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a mount can be watched. Immutable. */
public final class Monitoring {
  private static final String LOOPBACK = "127.0.0.1";

  private final @Nullable NodeAddress metrics;
  private final LogFormat logFormat;
  private final @Nullable Path accessLog;
  private final Sampling sampling;
  private final StatsAudience audience;

  private Monitoring(Builder builder) {
    metrics = builder.metrics;
    logFormat = builder.logFormat;
    accessLog = builder.accessLog;
    sampling = builder.sampling;
    audience = builder.audience;
  }

  /** Returns where scrapes are answered, if anywhere. */
  public Optional<NodeAddress> metrics() {
    return Optional.ofNullable(metrics);
  }

  /** Returns how the log is written. */
  public LogFormat logFormat() {
    return logFormat;
  }

  /** Returns the file of the access log, if there is to be one; absolute. */
  public Optional<Path> accessLog() {
    return Optional.ofNullable(accessLog);
  }

  /** Returns which events get into it. */
  public Sampling sampling() {
    return sampling;
  }

  /** Returns who is told of single jobs and processes. */
  public StatsAudience audience() {
    return audience;
  }

  /** Returns the value of one of these settings as text. */
  String text(Settings.Key key) {
    Object value =
        switch (key) {
          case METRICS -> metrics;
          case LOG_FORMAT -> logFormat.name().toLowerCase(Locale.ROOT);
          case ACCESS_LOG -> accessLog;
          case ACCESS_LOG_SAMPLE -> sampling;
          case STATS_VISIBLE_TO -> audience.name().toLowerCase(Locale.ROOT);
          default -> throw new IllegalArgumentException(key + " is not of monitoring");
        };
    return value == null ? "none" : value.toString();
  }

  /** Collects what is said of it. Not thread-safe. */
  public static final class Builder {
    private @Nullable NodeAddress metrics;
    private LogFormat logFormat = LogFormat.TEXT;
    private @Nullable Path accessLog;
    private Sampling sampling = Sampling.DEFAULT;
    private StatsAudience audience = StatsAudience.OWNER;

    Builder() {}

    /**
     * Where to answer scrapes: {@code HOST:PORT}, or a port of the loopback address alone; {@code
     * none} for nowhere.
     */
    public void metrics(String text) {
      boolean portAlone = !text.isEmpty() && text.chars().allMatch(Character::isDigit);
      try {
        metrics =
            text.equals("none")
                ? null
                : NodeAddress.parse(portAlone ? LOOPBACK + ":" + text : text);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "'"
                + text
                + "' is no address: write a port from 1 to 65535, for this machine only, or"
                + " HOST:PORT, such as 0.0.0.0:9464 for everybody",
            e);
      }
    }

    /** How the log is written. */
    public void logFormat(LogFormat value) {
      logFormat = value;
    }

    /** The file of the access log, absolute; null for none. */
    public void accessLog(@Nullable Path value) {
      accessLog = value;
    }

    /** Which events get into it: see {@link Sampling}. */
    public void sampling(String text) {
      sampling = Sampling.parse(text);
    }

    /** Who is told of single jobs and processes. */
    public void audience(StatsAudience value) {
      audience = value;
    }

    Monitoring build() {
      return new Monitoring(this);
    }
  }
}
