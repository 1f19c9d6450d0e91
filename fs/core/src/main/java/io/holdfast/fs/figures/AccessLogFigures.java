package io.holdfast.fs.figures;

/** What became of events for the access log. Immutable. */
public record AccessLogFigures(long written, long sampledOut, long dropped) {
  /** Of a mount that has none. */
  public static final AccessLogFigures NONE = new AccessLogFigures(0, 0, 0);
}
