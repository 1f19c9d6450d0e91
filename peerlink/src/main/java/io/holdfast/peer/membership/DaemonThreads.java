package io.holdfast.peer.membership;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates threads that do not keep the process alive. Thread-safe. */
final class DaemonThreads implements ThreadFactory {
  private final String name;
  private final AtomicInteger number = new AtomicInteger();

  DaemonThreads(String name) {
    this.name = name;
  }

  @Override
  public Thread newThread(Runnable task) {
    Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  }
}
