package io.holdfast.fs.origin;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A walk for which there is no memory. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class DirectoryWalkTest {
  private final FakeOrigin origin = new FakeOrigin();
  private final Set<String> failed = ConcurrentHashMap.newKeySet();
  private final AtomicInteger completed = new AtomicInteger();

  /** Has no memory for more than to note that a directory has failed. */
  private final class Sink implements Origin.ScanSink {
    @Override
    public void entries(OriginPath directory, List<Origin.ScannedEntry> entries) {}

    @Override
    public void unread(OriginPath directory, OriginPath name, FsException cause) {}

    @Override
    public void complete(OriginPath directory) {
      completed.incrementAndGet();
    }

    @Override
    public void failed(OriginPath directory, FsException cause) {
      failed.add(directory.toString());
      throw new OutOfMemoryError("the sink's");
    }

    @Override
    public boolean goesOn() {
      return true;
    }
  }

  /** The scan waited for ever for the directories that it had counted and not submitted. */
  @Test
  void walk_noThreadsAndNoHeap_endsAndReportsEachDirectory() {
    origin.file("a/file", new byte[1]);
    origin.file("b/file", new byte[1]);
    origin.file("c/file", new byte[1]);
    AtomicInteger tasks = new AtomicInteger();
    Executor one =
        task -> {
          if (tasks.incrementAndGet() > 1) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          task.run();
        };

    new DirectoryWalk(origin::list, one, new Sink()).walk(OriginPath.ROOT);

    assertThat(completed).as("the root").hasValue(1);
    assertThat(failed).containsExactlyInAnyOrder("a", "b", "c");
  }
}
