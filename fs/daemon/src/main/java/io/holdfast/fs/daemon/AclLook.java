package io.holdfast.fs.daemon;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.Origin.ScannedEntry;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.tree.Tree;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether a dataset has access control lists, before it is mounted: the agreement with
 * the kernel stays for the life of the mount. Asks the tree of an earlier mount, and otherwise
 * looks at the first entries for a short time.
 */
final class AclLook implements Origin.ScanSink {
  private static final Logger log = LoggerFactory.getLogger(AclLook.class);

  private static final Duration LONGEST = Duration.ofMillis(300);
  private static final long MOST_ENTRIES = 5_000;

  private final AtomicLong left = new AtomicLong(MOST_ENTRIES);
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean found;

  private AclLook() {}

  /**
   * Tells whether a dataset has lists that the kernel can decide by.
   *
   * @param threads list the dataset; not the calling thread
   */
  static boolean findsAny(Origin origin, Tree tree, Executor threads) {
    if (tree.hasAcls() || !origin.mayHaveAcls()) {
      return tree.hasAcls();
    }
    AclLook look = new AclLook();
    NamedThreads.start("acl-look", () -> look.at(origin, threads));
    try {
      if (!look.over.await(LONGEST.toMillis(), TimeUnit.MILLISECONDS)) {
        log.debug("no ACL among the entries that were seen in {}", LONGEST);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    look.left.set(0);
    return look.found;
  }

  private void at(Origin origin, Executor threads) {
    try {
      origin.scan(OriginPath.ROOT, threads, this);
    } catch (FsException e) {
      log.debug("no look at ACLs: {}", e.getMessage());
    } finally {
      over.countDown();
    }
  }

  @Override
  public void entries(OriginPath directory, List<ScannedEntry> entries) {
    for (ScannedEntry entry : entries) {
      if (Acl.isPosix(entry.attributes().acl())) {
        found = true;
        over.countDown();
      }
    }
    left.addAndGet(-entries.size());
  }

  @Override
  public void unread(OriginPath directory, OriginPath name, FsException cause) {
    left.decrementAndGet();
  }

  @Override
  public void complete(OriginPath directory) {
    // the look was ended, or has failed: only a list that was seen counts
  }

  @Override
  public void failed(OriginPath directory, FsException cause) {
    log.debug("no look at ACLs in {}: {}", directory, cause.getMessage());
  }

  @Override
  public boolean goesOn() {
    return !found && left.get() > 0;
  }
}
