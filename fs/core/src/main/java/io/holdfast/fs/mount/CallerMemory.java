package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.holdfast.fs.linux.Cgroups;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.transit.Reader;
import java.time.Duration;
import java.util.Optional;

/**
 * Finds out, from /proc, which memory cgroup a reader's pages are charged to. Thread-safe. Keeps an
 * answer for a second, because the same thread reads many files and seldom moves.
 */
final class CallerMemory {
  private static final Duration KEEP = Duration.ofSeconds(1);
  private static final long MOST_THREADS = 10_000;

  private final Procfs procfs;
  private final Cgroups cgroups;
  private final Optional<String> own;
  private final LoadingCache<Integer, Reader> readers;

  CallerMemory(Procfs procfs) {
    this.procfs = procfs;
    this.cgroups = new Cgroups(procfs);
    this.own = cgroups.memoryPath(Procfs.SELF);
    this.readers =
        Caffeine.newBuilder()
            .expireAfterWrite(KEEP)
            .maximumSize(MOST_THREADS)
            .executor(Runnable::run)
            .build(this::find);
  }

  Reader reader(int thread) {
    return readers.get(thread);
  }

  private Reader find(int thread) {
    if (procfs.isOwnThread(thread)) {
      return new Reader(thread, Reader.Kind.DAEMON, false);
    }
    // /proc has nothing of a thread that has ended, or is in another pid namespace
    Optional<String> other =
        thread == 0 ? Optional.empty() : cgroups.memoryPath(Integer.toString(thread));
    return new Reader(thread, Reader.Kind.APPLICATION, other.isEmpty() || !other.equals(own));
  }
}
