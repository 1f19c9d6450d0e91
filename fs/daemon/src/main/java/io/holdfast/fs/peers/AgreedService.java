package io.holdfast.fs.peers;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.Asker;
import io.holdfast.peer.transfer.ItemProvider;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.OwnText;
import io.holdfast.peer.transfer.Refusal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers peers that have the same dataset, and no other peers. Thread-safe. */
final class AgreedService implements ItemProvider {
  private static final Logger log = LoggerFactory.getLogger(AgreedService.class);

  private static final OwnText NO_OFFER = new OwnText("");

  private final Agreement agreement;
  private final PeerService service;
  private final Supplier<String> offer;

  /** The offer that was told last: its digest is not computed for each question. */
  private volatile OwnText told = NO_OFFER;

  /**
   * Creates a service.
   *
   * @param offer returns this node's offer of a plan; empty if there is none
   */
  AgreedService(Agreement agreement, PeerService service, Supplier<String> offer) {
    this.agreement = agreement;
    this.service = service;
    this.offer = offer;
  }

  @Override
  public void get(ItemRequest request, Asker from, Answer answer) {
    CompletableFuture<Void> unused =
        agreement
            .with(from.node())
            .thenCompose(verdict -> upToDate(from, verdict))
            .thenAccept(
                verdict -> {
                  switch (verdict.kind()) {
                    // the asker takes the refusal for what this node has found itself
                    case OTHER ->
                        answer.refused(
                            verdict.heard() ? Refusal.NOT_COMPARED : Refusal.OTHER_DATASET);
                    case UNKNOWN -> answer.refused(Refusal.NOT_COMPARED);
                    case SAME -> {
                      if (isBetween(from, verdict)) {
                        service.get(request, from.node(), verdict.shared(), answer);
                      } else {
                        answer.refused(Refusal.NOT_COMPARED);
                      }
                    }
                  }
                })
            .exceptionally(
                failure -> {
                  failed(request, answer, failure);
                  return null;
                });
  }

  /** Answers a request that could not be answered otherwise: its reader would wait in vain. */
  private static void failed(ItemRequest request, Answer answer, Throwable failure) {
    answer.refused(Refusal.ORIGIN_FAILED);
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof OutOfMemoryError met) {
      OutOfMemory.tell(met);
    } else {
      log.error("no answer for {}", request.path(), cause);
    }
  }

  /**
   * Compares an asker again if it has told of another sketch since, or if only the asker had found
   * a difference: it would not ask if it still did. Waits only for a bounded time: the origin may
   * hang.
   */
  private CompletableFuture<Verdict> upToDate(Asker from, Verdict verdict) {
    return from.sketches().asker().equals(verdict.theirs()) && !verdict.heard()
        ? CompletableFuture.completedFuture(verdict)
        : agreement
            .again(from.node())
            .copy()
            .completeOnTimeout(
                Verdict.unknown("not compared again yet"),
                Agreement.LONGEST_WAIT.toMillis(),
                TimeUnit.MILLISECONDS);
  }

  /** Tells whether a request is between the datasets that were compared. */
  private boolean isBetween(Asker from, Verdict verdict) {
    return from.sketches().asker().equals(verdict.theirs())
        && from.sketches().asked().equals(agreement.mark());
  }

  @Override
  public void held(ItemRequest request, Asker by) {
    boolean agreed =
        agreement
            .known(by.node())
            .filter(verdict -> verdict.isSame() && isBetween(by, verdict))
            .isPresent();
    if (agreed) {
      service.held(request, by.node());
    }
  }

  @Override
  public CompletableFuture<String> sketch(NodeAddress peer) {
    return agreement.tell(peer);
  }

  /** A node tells its offer of a plan only to those that have the same dataset. */
  @Override
  public OwnText plan(NodeAddress peer) {
    return agreement.known(peer).filter(Verdict::isSame).isPresent() ? offer() : NO_OFFER;
  }

  private OwnText offer() {
    String now = offer.get();
    OwnText last = told;
    if (!last.is(now)) {
      last = new OwnText(now);
      told = last;
    }
    return last;
  }

  @Override
  public long residentBytes() {
    return service.residentBytes();
  }
}
