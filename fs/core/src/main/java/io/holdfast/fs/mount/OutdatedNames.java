package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.tree.NameHash;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Names of which the kernel may believe something out of date, for the metadata TTL: names that it
 * was told do not exist, and names that lead to another node by now. The kernel does not say what
 * it remembers, so a refresh must tell it to look each of them up again, even if the tree has known
 * better for long. A name is forgotten only when the kernel has been told: a second refresh that
 * comes meanwhile must not return before that, and tells the kernel too. Bounded: of very many
 * names some are forgotten untold. For one TTL from then on, and from the start of a daemon that
 * takes over, the caller must take names into account that are not here. Thread-safe.
 */
final class OutdatedNames {
  private static final long MOST = 100_000;

  /** A name in a directory. Users choose names, so the hash has a secret key. */
  record Name(long parent, OriginPath name) {
    @Override
    public int hashCode() {
      return NameHash.of(parent, name.bytes());
    }
  }

  private final long ttlNanos;

  /** Until when the kernel may believe what an earlier daemon has told it. */
  private final long inheritedUntil;

  /** Until when the kernel may believe that names are missing which were noted here. */
  private volatile long forgottenUntil;

  private final Cache<Name, Long> missing;
  private final Cache<Name, Long> replaced;

  /** Gives each name a number, so that a name which is added again meanwhile is told again. */
  private final AtomicLong numbers = new AtomicLong();

  /** Tells the kernel of a name. */
  @FunctionalInterface
  interface Teller {
    /** Tells the kernel of a name; when the method returns, the kernel knows. */
    void tell(long parent, byte[] name);
  }

  /**
   * Creates it without names.
   *
   * @param succeeds whether the kernel has been told of names by an earlier daemon of the mount
   */
  OutdatedNames(Duration metadataTtl, boolean succeeds) {
    ttlNanos = metadataTtl.toNanos();
    forgottenUntil = System.nanoTime();
    inheritedUntil = forgottenUntil + (succeeds ? ttlNanos : 0);
    missing = names(metadataTtl);
    replaced = names(metadataTtl);
  }

  private Cache<Name, Long> names(Duration metadataTtl) {
    return Caffeine.newBuilder()
        .expireAfterWrite(metadataTtl)
        .maximumSize(MOST)
        .evictionListener(
            (Name name, Long number, RemovalCause cause) -> {
              if (cause == RemovalCause.SIZE) {
                forgottenUntil = System.nanoTime() + ttlNanos;
              }
            })
        .executor(Runnable::run)
        .build();
  }

  /** Tells whether the kernel may still believe what an earlier daemon told it of any name. */
  boolean hasInherited() {
    return System.nanoTime() - inheritedUntil < 0;
  }

  /**
   * Tells whether the kernel may still believe that a name is missing which is not noted here any
   * more, because there were too many.
   */
  boolean hasForgotten() {
    return System.nanoTime() - forgottenUntil < 0;
  }

  /** Notes that the kernel is told that there is no such name. */
  void missing(long parent, byte[] name) {
    missing.put(new Name(parent, OriginPath.of(name)), numbers.incrementAndGet());
  }

  /** Notes that a name leads to another node by now, or to none. */
  void replaced(long parent, byte[] name) {
    replaced.put(new Name(parent, OriginPath.of(name)), numbers.incrementAndGet());
  }

  /**
   * Tells the kernel of a name if it is one of these, and forgets the name then.
   *
   * @return whether it was one of these
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

  /** Tells the kernel of each name of these directories, and forgets the name then. */
  void tellWithin(LongPredicate directories, Teller teller) {
    tellAll(missing, directories, teller);
    tellAll(replaced, directories, teller);
  }

  /** Tells the kernel of each name that leads to another node, and forgets the name then. */
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
