package io.holdfast.fs;

/**
 * Learns of each read that reached the daemon and of each fetch. Thread-safe; called by threads
 * that answer readers, so no method waits for anything.
 */
public interface AccessLog {
  /** Wants to know nothing. */
  AccessLog NONE =
      new AccessLog() {
        @Override
        public boolean wantsNext() {
          return false;
        }

        @Override
        public void add(AccessEvent event) {}
      };

  /** Tells whether the event that happens now is to be added. To be asked once for each. */
  boolean wantsNext();

  /** Takes an event. */
  void add(AccessEvent event);
}
