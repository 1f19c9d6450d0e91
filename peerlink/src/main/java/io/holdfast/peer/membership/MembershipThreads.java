package io.holdfast.peer.membership;

import org.jgroups.util.DefaultThreadFactory;

/**
 * Creates the threads of JGroups, which survives exceptions and no errors: its thread that accepts
 * connections ended with the first thread that could not be started, and no node could join by this
 * one any more. Thread-safe.
 */
final class MembershipThreads extends DefaultThreadFactory {
  /** Begins the name of the thread that accepts connections. */
  static final String ACCEPTOR = "TcpServer.Acceptor";

  private static final long PAUSE_MILLIS = 100;

  private final long stackBytes;

  MembershipThreads() {
    this(0);
  }

  /**
   * Creates a factory.
   *
   * @param stackBytes the size of a thread's stack; 0 for the usual one
   */
  MembershipThreads(long stackBytes) {
    super("membership", true, true);
    this.stackBytes = stackBytes;
  }

  @Override
  protected Thread newThread(Runnable task, String name, String address, String cluster) {
    Runnable kept = name != null && name.startsWith(ACCEPTOR) ? () -> runOn(task) : task;
    String full = clusterName == null ? name : getThreadName(name, address, cluster);
    Thread thread = new StartedThread(kept, full, stackBytes);
    thread.setDaemon(true);
    return thread;
  }

  /** Runs a task that ends for want of memory again, until it ends otherwise. */
  private static void runOn(Runnable task) {
    boolean isDone = false;
    while (!isDone) {
      try {
        task.run();
        isDone = true;
      } catch (OutOfMemoryError e) {
        // not told, which needs memory
        isDone = isInterrupted();
      }
    }
  }

  /** Waits a moment for memory; returns true if this node leaves the cluster meanwhile. */
  private static boolean isInterrupted() {
    try {
      Thread.sleep(PAUSE_MILLIS);
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** A thread for which an exception tells that it cannot be started. */
  private static final class StartedThread extends Thread {
    StartedThread(Runnable task, String name, long stackBytes) {
      super(null, task, name, stackBytes);
    }

    @Override
    public synchronized void start() {
      try {
        super.start();
      } catch (OutOfMemoryError e) {
        throw new IllegalStateException("no thread for " + getName() + ": " + e.getMessage(), e);
      }
    }
  }
}
