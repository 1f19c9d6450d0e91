package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
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

  private final Cache<Name, Boolean> missing;

  /** Each with a number of its own, so that one which is given away again is told again. */
  private final Cache<Name, Long> replaced;

  private final AtomicLong replacements = new AtomicLong();

  OutdatedNames(Duration metadataTtl) {
    missing = names(metadataTtl);
    replaced = names(metadataTtl);
  }

  private static <T> Cache<Name, T> names(Duration metadataTtl) {
    return Caffeine.newBuilder()
        .expireAfterWrite(metadataTtl)
        .maximumSize(MOST)
        .executor(Runnable::run)
        .build();
  }

  /** The kernel is told that there is no such name. */
  void missing(long parent, byte[] name) {
    missing.put(new Name(parent, OriginPath.of(name)), Boolean.TRUE);
  }

  /** A name leads to another node by now, or to none. */
  void replaced(long parent, byte[] name) {
    replaced.put(new Name(parent, OriginPath.of(name)), replacements.incrementAndGet());
  }

  /** Forgets a name; returns whether it was one of these. */
  boolean take(long parent, byte[] name) {
    Name taken = new Name(parent, OriginPath.of(name));
    boolean was = missing.asMap().remove(taken) != null;
    return replaced.asMap().remove(taken) != null || was;
  }

  /** Passes each name of these directories, and forgets it. */
  void takeWithin(LongPredicate directories, BiConsumer<Long, byte[]> taker) {
    for (Cache<Name, ?> names : List.of(missing, replaced)) {
      for (Name name : names.asMap().keySet()) {
        if (directories.test(name.parent)) {
          names.invalidate(name);
          taker.accept(name.parent, name.name.bytes());
        }
      }
    }
  }

  /** Passes each name that was given to another node, and forgets it once that was done. */
  void takeReplaced(BiConsumer<Long, byte[]> taker) {
    replaced
        .asMap()
        .forEach(
            (name, number) -> {
              taker.accept(name.parent, name.name.bytes());
              replaced.asMap().remove(name, number);
            });
  }
}
