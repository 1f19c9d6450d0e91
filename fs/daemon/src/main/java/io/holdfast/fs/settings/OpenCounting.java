package io.holdfast.fs.settings;

/** How opens by applications are counted. */
public enum OpenCounting {
  /** {@link #WATCH} if it is allowed, else {@link #MESSAGE}. */
  AUTO,
  /** By a fanotify listener, in batches; needs privileges. */
  WATCH,
  /** By a message for each open: exact, and slower. */
  MESSAGE,
  /** Not at all. */
  OFF
}
