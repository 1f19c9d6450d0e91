package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.LongPredicate;

/**
 * Names that the kernel was told do not exist, and believes so for the metadata TTL. A refresh must
 * tell it to look again, and the kernel does not say which it remembers. Bounded: of very many
 * missing names the oldest are forgotten, and come back when the TTL is over. Thread-safe.
 */
final class MissingNames {
  private static final long MOST = 100_000;

  private record Name(long parent, OriginPath name) {}

  private final Cache<Name, Boolean> names;

  MissingNames(Duration metadataTtl) {
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

  /** Passes each missing name of these directories, and forgets it. */
  void takeWithin(LongPredicate directories, BiConsumer<Long, byte[]> taker) {
    for (Name name : names.asMap().keySet()) {
      if (directories.test(name.parent)) {
        names.invalidate(name);
        taker.accept(name.parent, name.name.bytes());
      }
    }
  }
}
