package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.LongPredicate;

/**
 * Names of which the kernel may believe something that is no longer so, for the metadata TTL: those
 * that it was told do not exist, and those that have been given to another node. A refresh must
 * tell it to look again, also where the tree has known better for long, and the kernel does not say
 * what it remembers. Bounded: of very many names the oldest are forgotten, and come back when the
 * TTL is over. Thread-safe.
 */
final class OutdatedNames {
  private static final long MOST = 100_000;

  private record Name(long parent, OriginPath name) {}

  private final Cache<Name, Boolean> names;

  OutdatedNames(Duration metadataTtl) {
    names =
        Caffeine.newBuilder()
            .expireAfterWrite(metadataTtl)
            .maximumSize(MOST)
            .executor(Runnable::run)
            .build();
  }

  void add(long parent, byte[] name) {
    names.put(new Name(parent, OriginPath.of(name)), Boolean.TRUE);
  }

  /** Forgets a name; returns whether it was one of these. */
  boolean take(long parent, byte[] name) {
    return names.asMap().remove(new Name(parent, OriginPath.of(name))) != null;
  }

  /** Passes each name of these directories, and forgets it. */
  void takeWithin(LongPredicate directories, BiConsumer<Long, byte[]> taker) {
    for (Name name : names.asMap().keySet()) {
      if (directories.test(name.parent)) {
        names.invalidate(name);
        taker.accept(name.parent, name.name.bytes());
      }
    }
  }
}
