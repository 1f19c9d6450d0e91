package io.holdfast.fs;

/**
 * Takes each read that reached the daemon, and each fetch. Thread-safe. The threads that answer
 * readers call it, so no method waits.
 */
public interface AccessLog {
  /** An access log that takes no events. */
  AccessLog NONE =
      new AccessLog() {
        @Override
        public boolean wantsNext() {
          return false;
        }

        @Override
        public void add(AccessEvent event) {}
      };

  /**
   * Tells whether the caller is to add the event that happens now. The caller asks once an event.
   */
  boolean wantsNext();

  /** Adds an event. */
  void add(AccessEvent event);
}
