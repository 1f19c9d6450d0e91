package io.holdfast.fs.settings;

/** How the daemon writes its log. */
public enum LogFormat {
  /** A line an event, for people; then the stack trace. */
  TEXT,
  /** A JSON object a line, the stack trace in it, for collectors of logs. */
  JSON
}
