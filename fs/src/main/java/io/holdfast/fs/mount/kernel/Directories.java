package io.holdfast.fs.mount.kernel;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Exposures;
import io.holdfast.fs.mount.Filesystem;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers READDIR and READDIRPLUS. Directories are not opened here, so a listing is kept from its
 * first request on for as long as its reader goes on. Thread-safe.
 */
final class Directories {
  private static final Duration KEEP = Duration.ofSeconds(30);
  private static final long MOST = 64;

  private final Filesystem filesystem;
  private final Exposures exposures;
  private final Duration ttl;
  private final Cache<Long, Listing> listings =
      Caffeine.newBuilder()
          .expireAfterAccess(KEEP)
          .maximumSize(MOST)
          .executor(Runnable::run)
          .build();

  Directories(Filesystem filesystem, Exposures exposures, Duration ttl) {
    this.filesystem = filesystem;
    this.exposures = exposures;
    this.ttl = ttl;
  }

  /**
   * Writes the entries from an offset on that fit.
   *
   * @param shown null for names alone; else each comes with what it leads to, and the nodes are
   *     added, to be taken out of the exposures after the reply
   * @return the bytes written
   */
  int read(long node, long offset, @Nullable List<Long> shown, long to, int capacity)
      throws FsException {
    Listing listing = offset == 0 ? null : listings.getIfPresent(node);
    if (listing == null) {
      listing = Listing.of(filesystem, node, shown != null);
      listings.put(node, listing);
    }
    int written = 0;
    for (int i = (int) Math.min(offset, listing.size()); i < listing.size(); i++) {
      Listing.Entry entry = listing.get(i);
      int size = Wire.direntSize(entry.name()) + (shown == null ? 0 : Wire.ENTRY);
      if (written + size > capacity) {
        break;
      }
      long at = to + written;
      if (shown != null) {
        look(node, listing, entry, at, shown);
        at += Wire.ENTRY;
      }
      Wire.dirent(at, entry.name(), entry.type(), entry.inode(), i + 1L);
      written += size;
    }
    if (offset >= listing.size()) {
      listings.invalidate(node); // it has been read to its end
    }
    return written;
  }

  /** What cannot be looked up now is listed by its name alone. */
  private void look(
      long directory, Listing listing, Listing.Entry entry, long to, List<Long> shown) {
    if (!entry.isDots()) {
      try {
        Filesystem.Entry known =
            listing.isLookedUp() ? exposures.known(filesystem, directory, entry.name()) : null;
        Filesystem.Entry found =
            known == null ? exposures.lookup(filesystem, directory, entry.name()) : known;
        shown.add(found.node());
        Wire.entry(to, found.node(), found.attributes(), ttl);
        return;
      } catch (FsException e) {
        // gone since it was listed, or out of reach
      }
    }
    Memory.clear(to, Wire.ENTRY);
  }
}
