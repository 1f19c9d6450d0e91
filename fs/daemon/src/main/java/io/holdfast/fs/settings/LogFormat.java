package io.holdfast.fs.settings;

/** How the daemon writes its log. */
public enum LogFormat {
  /** One line for each event, for people; then the stack trace. */
  TEXT,
  /** One JSON object in a line for each event, with the stack trace, for collectors of logs. */
  JSON
}
