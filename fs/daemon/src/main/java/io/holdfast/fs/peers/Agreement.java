package io.holdfast.fs.peers;

import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.Told;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out which peers have the same dataset as this node. Each side compares for itself, and both
 * must agree before an item is transferred. Thread-safe. Only the one thread that asks the origin
 * waits.
 *
 * <p>A peer is compared when it joins the view, before the first item is requested from it or sent
 * to it. Requests wait for the first comparison, for a bounded time. After a failed comparison, or
 * one that found another dataset, the peer is compared again after a pause; until then the verdict
 * holds. A request names the sketches that its sender compared. If one of these sketches is out of
 * date, the peer is compared again before an item is sent.
 */
final class Agreement {
  private static final Logger log = LoggerFactory.getLogger(Agreement.class);

  /** Longest wait of requests for a comparison with a peer. */
  static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

  private static final long RETRY_MILLIS = 100;

  /** A peer is never compared again sooner, whatever it sends. */
  private static final long SHORTEST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

  private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(30).toNanos();

  /** Most peers outside the view: peers that are already in a newer view. */
  private static final int MOST_STRANGERS = 256;

  /** Made once, because there may be no room for it when it is needed. */
  private static final Verdict BROKEN_OFF = Verdict.unknown("internal error");

  private final String dataset;
  private final NodeAddress self;
  private final OwnSketch own;
  private final Executor thread;
  private final LongSupplier nanoTime;
  private final Duration patience;
  private final Function<NodeAddress, CompletableFuture<Told>> asker;
  private final Runnable changed;
  private final Map<NodeAddress, Peer> peers = new ConcurrentHashMap<>();
  private volatile Set<NodeAddress> view = Set.of();

  /**
   * The parts of an agreement.
   *
   * @param own this node's sketch
   * @param thread a single thread, which may wait for the origin
   * @param nanoTime a clock of nanoseconds
   * @param patience longest wait of requests for the first comparison with a peer
   */
  record Parts(OwnSketch own, Executor thread, LongSupplier nanoTime, Duration patience) {}

  /**
   * Begins without peers.
   *
   * @param asker asks a peer for its sketch
   * @param changed called when the set of peers with another dataset changes
   */
  Agreement(
      String dataset,
      NodeAddress self,
      Parts parts,
      Function<NodeAddress, CompletableFuture<Told>> asker,
      Runnable changed) {
    this.dataset = dataset;
    this.self = self;
    this.own = parts.own;
    this.thread = parts.thread;
    this.nanoTime = parts.nanoTime;
    this.patience = parts.patience;
    this.asker = asker;
    this.changed = changed;
  }

  /** The state of one peer. */
  private final class Peer {
    private final NodeAddress address;

    /** Completes with the first comparison, or when requests have waited long enough. */
    private final CompletableFuture<Verdict> first = new CompletableFuture<>();

    /** Guarded by this; null before the first comparison has ended. */
    private @Nullable Verdict verdict;

    /** Guarded by this: the result of the comparison in flight. */
    private @Nullable CompletableFuture<Verdict> running;

    /** Guarded by this: the end of the last comparison. */
    private long ended;

    /** Guarded by this: pause after {@link #ended} before the next comparison. */
    private long pause = SHORTEST_PAUSE_NANOS;

    /** Guarded by this: the difference that was logged last; empty for none. */
    private String told = "";

    Peer(NodeAddress address) {
      this.address = address;
      CompletableFuture<Verdict> unused =
          first.completeOnTimeout(
              Verdict.unknown("not compared yet"), patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    synchronized Verdict now() {
      return verdict == null ? Verdict.unknown("not compared yet") : verdict;
    }

    /** Returns the latest verdict; the first one is waited for. */
    CompletableFuture<Verdict> verdict() {
      synchronized (this) {
        if (verdict != null) {
          return CompletableFuture.completedFuture(verdict);
        }
      }
      return first;
    }

    /** Compares again, unless a comparison has just ended. */
    CompletableFuture<Verdict> again() {
      CompletableFuture<Verdict> begun;
      synchronized (this) {
        if (running != null) {
          return running;
        }
        if (verdict != null && nanoTime.getAsLong() - ended < SHORTEST_PAUSE_NANOS) {
          return CompletableFuture.completedFuture(verdict);
        }
        begun = new CompletableFuture<>();
        running = begun;
      }
      ask(begun);
      return begun;
    }

    /** Asks the peer for its sketch. While requests wait and the peer is not ready, asks again. */
    private void ask(CompletableFuture<Verdict> begun) {
      try {
        CompletableFuture<Told> unused =
            asker
                .apply(address)
                .whenComplete((answer, failure) -> answered(answer, failure, begun));
      } catch (RuntimeException | Error e) {
        failed(begun, e);
      }
    }

    private void answered(
        @Nullable Told answer, @Nullable Throwable failure, CompletableFuture<Verdict> begun) {
      try {
        if (answer == null) {
          failed(begun, failure);
        } else if (answer.outcome().isFetched() || first.isDone()) {
          thread.execute(() -> judge(answer, begun));
        } else {
          CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS)
              .execute(() -> ask(begun));
        }
      } catch (RejectedExecutionException e) {
        begun.complete(ended(Verdict.unknown("this node is ending")));
      } catch (RuntimeException | Error e) {
        failed(begun, e);
      }
    }

    private void judge(Told answer, CompletableFuture<Verdict> begun) {
      try {
        begun.complete(ended(own.judge(answer)));
      } catch (RuntimeException | Error e) {
        failed(begun, e);
      }
    }

    /** Ends a comparison that a fault has broken off: a peer is never compared twice at once. */
    private void failed(CompletableFuture<Verdict> begun, @Nullable Throwable failure) {
      begun.complete(ended(BROKEN_OFF));
      if (failure instanceof OutOfMemoryError met) {
        OutOfMemory.tell(met);
      } else {
        log.error("a peer's dataset could not be compared", failure);
      }
    }

    private Verdict ended(Verdict found) {
      boolean other;
      synchronized (this) {
        // a good verdict stays while a peer or the origin cannot be asked
        boolean keeps = found.kind() == Verdict.Kind.UNKNOWN && verdict != null;
        Verdict before = verdict;
        verdict = keeps && before != null ? before : found;
        other = isOther(before) != isOther(verdict);
        running = null;
        ended = nanoTime.getAsLong();
        pause =
            found.kind() == Verdict.Kind.UNKNOWN
                ? Math.min(2 * pause, LONGEST_PAUSE_NANOS)
                : LONGEST_PAUSE_NANOS;
        tell(found);
        found = verdict;
      }
      first.complete(found);
      if (other) {
        changed.run();
      }
      return found;
    }

    private static boolean isOther(@Nullable Verdict verdict) {
      return verdict != null && verdict.kind() == Verdict.Kind.OTHER;
    }

    /** Logs a change. Called under the monitor, so that lines are in order. */
    private void tell(Verdict found) {
      if (found.kind() == Verdict.Kind.OTHER && told.isEmpty()) {
        told = found.detail();
        log.warn(
            "{} has another dataset than {}, and both call it '{}': {}. Nothing is taken from it or"
                + " given to it: give each dataset a --dataset-id of its own",
            address,
            self,
            dataset,
            told);
      } else if (found.isSame() && !told.isEmpty()) {
        told = "";
        log.info("{} has the same dataset as this node by now", address);
      }
    }

    /** Compares again if a comparison is due. */
    void tick() {
      boolean due;
      synchronized (this) {
        due =
            running == null
                && verdict != null
                && !verdict.isSame()
                && nanoTime.getAsLong() - ended >= pause;
      }
      if (due) {
        CompletableFuture<Verdict> unused = again();
      }
    }
  }

  /**
   * Returns what this node tells a peer: its own sketch, and whether it found that the peer has
   * another dataset.
   */
  CompletableFuture<String> tell(NodeAddress peer) {
    CompletableFuture<String> told = new CompletableFuture<>();
    if (own.isFresh()) {
      tell(peer, told);
      return told;
    }
    try {
      thread.execute(() -> tell(peer, told));
    } catch (RejectedExecutionException e) {
      told.completeExceptionally(e);
    }
    return told;
  }

  private void tell(NodeAddress peer, CompletableFuture<String> told) {
    boolean other =
        known(peer)
            .filter(verdict -> verdict.kind() == Verdict.Kind.OTHER && !verdict.heard())
            .isPresent();
    try {
      told.complete(own.told(other));
    } catch (FsException | RuntimeException e) {
      log.debug("there is no sketch to tell", e);
      told.completeExceptionally(e);
    }
  }

  /** Returns the digest of the sketch that this node told last; empty before the first. */
  String mark() {
    return own.mark();
  }

  /** Sets the peers in the view. */
  void peers(Set<NodeAddress> now) {
    view = Set.copyOf(now);
    peers.keySet().retainAll(now);
    now.forEach(this::of);
  }

  private @Nullable Peer of(NodeAddress address) {
    Peer known = peers.get(address);
    if (known != null) {
      return known;
    }
    if (!view.contains(address) && peers.size() >= view.size() + MOST_STRANGERS) {
      return null;
    }
    Peer made = new Peer(address);
    Peer before = peers.putIfAbsent(address, made);
    if (before != null) {
      return before;
    }
    CompletableFuture<Verdict> unused = made.again();
    return made;
  }

  /** Returns the verdict on a peer. Waits for the first comparison, for a bounded time. */
  CompletableFuture<Verdict> with(NodeAddress address) {
    Peer peer = of(address);
    return peer == null
        ? CompletableFuture.completedFuture(Verdict.unknown("not in the view"))
        : peer.verdict();
  }

  /** Returns the current verdict on a peer, without waiting. */
  Optional<Verdict> known(NodeAddress address) {
    return Optional.ofNullable(peers.get(address)).map(Peer::now);
  }

  /** Compares a peer again because one of the sketches has changed. */
  CompletableFuture<Verdict> again(NodeAddress address) {
    Peer peer = of(address);
    return peer == null ? with(address) : peer.again();
  }

  /** Records that a peer found another dataset on this node. */
  void refusedBy(NodeAddress address) {
    Peer peer = peers.get(address);
    if (peer != null && peer.now().isSame()) {
      peer.ended(Verdict.heard(peer.now().theirs()));
    }
  }

  /** Returns the peers that have another dataset. */
  Set<NodeAddress> others() {
    Set<NodeAddress> others = new TreeSet<>();
    peers.forEach(
        (address, peer) -> {
          if (peer.now().kind() == Verdict.Kind.OTHER) {
            others.add(address);
          }
        });
    return others;
  }

  /** Starts the comparisons that are due. Called several times a second. */
  void tick() {
    peers.values().forEach(Peer::tick);
  }
}
