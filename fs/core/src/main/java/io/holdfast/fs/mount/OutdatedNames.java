package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Names of which the kernel may believe something that is no longer so, for the metadata TTL: those
 * that it was told do not exist, and those that have been given to another node. A refresh must
 * tell it to look again, also where the tree has known better for long, and the kernel does not say
 * what it remembers. A name is forgotten only when the kernel has been told: who asks meanwhile,
 * and must not return before it has, tells it too. Bounded: of very many names the oldest are
 * forgotten, and come back when the TTL is over. Thread-safe.
 */
final class OutdatedNames {
  private static final long MOST = 100_000;

  private record Name(long parent, OriginPath name) {}

  private final Cache<Name, Long> missing;
  private final Cache<Name, Long> replaced;

  /** Each has a number of its own, so that one which comes again meanwhile is told again. */
  private final AtomicLong numbers = new AtomicLong();

  /** Tells the kernel of a name. */
  @FunctionalInterface
  interface Teller {
    /** When it returns, the kernel knows. */
    void tell(long parent, byte[] name);
  }

  OutdatedNames(Duration metadataTtl) {
    missing = names(metadataTtl);
    replaced = names(metadataTtl);
  }

  private static Cache<Name, Long> names(Duration metadataTtl) {
    return Caffeine.newBuilder()
        .expireAfterWrite(metadataTtl)
        .maximumSize(MOST)
        .executor(Runnable::run)
        .build();
  }

  /** The kernel is told that there is no such name. */
  void missing(long parent, byte[] name) {
    missing.put(new Name(parent, OriginPath.of(name)), numbers.incrementAndGet());
  }

  /** A name leads to another node by now, or to none. */
  void replaced(long parent, byte[] name) {
    replaced.put(new Name(parent, OriginPath.of(name)), numbers.incrementAndGet());
  }

  /**
   * Tells of a name if it is one of these, and forgets it once that was done.
   *
   * @return whether it was
   */
  boolean tell(long parent, byte[] name, Teller teller) {
    Name wanted = new Name(parent, OriginPath.of(name));
    Long wasMissing = missing.getIfPresent(wanted);
    Long wasReplaced = replaced.getIfPresent(wanted);
    if (wasMissing == null && wasReplaced == null) {
      return false;
    }
    teller.tell(parent, name);
    forget(missing, wanted, wasMissing);
    forget(replaced, wanted, wasReplaced);
    return true;
  }

  /** Tells of each name of these directories, and forgets it once that was done. */
  void tellWithin(LongPredicate directories, Teller teller) {
    tellAll(missing, directories, teller);
    tellAll(replaced, directories, teller);
  }

  /** Tells of each name that was given to another node, and forgets it once that was done. */
  void tellReplaced(Teller teller) {
    tellAll(replaced, directory -> true, teller);
  }

  private static void tellAll(Cache<Name, Long> names, LongPredicate directories, Teller teller) {
    names
        .asMap()
        .forEach(
            (name, number) -> {
              if (directories.test(name.parent)) {
                teller.tell(name.parent, name.name.bytes());
                forget(names, name, number);
              }
            });
  }

  private static void forget(Cache<Name, Long> names, Name name, @Nullable Long number) {
    if (number != null) {
      names.asMap().remove(name, number);
    }
  }
}
