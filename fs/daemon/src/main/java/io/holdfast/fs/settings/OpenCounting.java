package io.holdfast.fs.settings;

/** How opens by applications are counted. */
public enum OpenCounting {
  /** {@link #WATCH} where it is allowed, else {@link #MESSAGE}. */
  AUTO,
  /** By a fanotify listener, in batches; needs privileges. */
  WATCH,
  /** By answering every open: exact, and slower. */
  MESSAGE,
  /** Not at all. */
  OFF
}
