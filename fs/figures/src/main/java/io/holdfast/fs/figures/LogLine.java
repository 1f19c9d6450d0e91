package io.holdfast.fs.figures;

/**
 * A line of the daemon's log. Immutable.
 *
 * @param time when it was written, in ISO 8601
 * @param level error or warn
 * @param text the message, on one line
 */
public record LogLine(String time, String level, String text) {}
