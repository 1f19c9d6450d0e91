package io.holdfast.fs.settings;

/** How much the daemon's log says. */
public enum LogLevel {
  ERROR,
  WARN,
  INFO,
  DEBUG,
  TRACE
}
