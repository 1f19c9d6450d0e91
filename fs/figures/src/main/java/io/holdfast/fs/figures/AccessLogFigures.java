package io.holdfast.fs.figures;

/** The events of the access log, by what became of them. Immutable. */
public record AccessLogFigures(long written, long sampledOut, long dropped) {
  /** The figures of a mount without an access log. */
  public static final AccessLogFigures NONE = new AccessLogFigures(0, 0, 0);
}
