package io.holdfast.fs.settings;

/** How much the daemon logs. */
public enum LogLevel {
  ERROR,
  WARN,
  INFO,
  DEBUG,
  TRACE
}
