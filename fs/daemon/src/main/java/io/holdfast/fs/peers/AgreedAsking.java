package io.holdfast.fs.peers;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.plan.PlanPeers;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Refusal;
import io.holdfast.peer.transfer.Sketches;
import io.holdfast.peer.transfer.Told;
import io.holdfast.peer.transfer.Transfer;
import io.holdfast.peer.transfer.TransferResult;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks peers that have the same dataset, and no other peers. The first question to a peer waits for
 * the comparison of datasets. Thread-safe.
 */
final class AgreedAsking implements ClusterSource.Fetcher {
  private static final Logger log = LoggerFactory.getLogger(AgreedAsking.class);

  private final Agreement agreement;
  private final Supplier<@Nullable Transfer> transfer;

  /**
   * Creates it.
   *
   * @param transfer carries the questions; null until peers can be reached
   */
  AgreedAsking(Agreement agreement, Supplier<@Nullable Transfer> transfer) {
    this.agreement = agreement;
    this.transfer = transfer;
  }

  /** Asks a peer for its sketch. */
  static CompletableFuture<Told> sketch(@Nullable Transfer transfer, NodeAddress peer) {
    return transfer == null
        ? CompletableFuture.completedFuture(new Told(TransferResult.SUSPECT, "", ""))
        : transfer.sketch(peer);
  }

  /**
   * Asks a peer that has the same dataset for its offer of a plan.
   *
   * @param known names the last offer of the peer; empty if there is none
   * @param longest the most letters of an offer that is of use
   */
  CompletableFuture<PlanPeers.Answer> plan(NodeAddress peer, String known, int longest) {
    Transfer running = transfer.get();
    if (running == null || agreement.known(peer).filter(Verdict::isSame).isEmpty()) {
      return CompletableFuture.completedFuture(PlanPeers.Answer.NONE);
    }
    return running
        .plan(peer, known, longest)
        .thenApply(
            told -> {
              if (told.outcome().isFetched() || told.outcome().refusal() == Refusal.UNKNOWN) {
                return new PlanPeers.Answer(told.name(), told.text());
              }
              throw new CompletionException("no answer: " + told.outcome(), null);
            });
  }

  @Override
  public void fetch(
      NodeAddress peer, ItemRequest request, long address, Consumer<TransferResult> answered) {
    CompletableFuture<Verdict> unused =
        agreement
            .with(peer)
            .whenComplete((verdict, failure) -> ask(peer, verdict, request, address, answered));
  }

  /** Asks a peer after the comparison; a failure before the question is the answer. */
  private void ask(
      NodeAddress peer,
      @Nullable Verdict verdict,
      ItemRequest request,
      long address,
      Consumer<TransferResult> answered) {
    TransferResult none = TransferResult.SUSPECT;
    try {
      Transfer running = transfer.get();
      if (running != null && verdict != null) {
        switch (verdict.kind()) {
          case OTHER -> none = TransferResult.refused(Refusal.OTHER_DATASET);
          case UNKNOWN -> none = TransferResult.refused(Refusal.NOT_COMPARED);
          case SAME -> {
            running.fetch(
                peer, between(verdict), request, address, outcome -> hear(peer, outcome, answered));
            return;
          }
        }
      }
    } catch (RuntimeException e) {
      log.error("asking {} failed", peer, e);
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
    }
    answered.accept(none);
  }

  private void hear(NodeAddress peer, TransferResult outcome, Consumer<TransferResult> answered) {
    try {
      learn(peer, outcome);
    } finally {
      answered.accept(outcome);
    }
  }

  private Sketches between(Verdict verdict) {
    return new Sketches(agreement.mark(), verdict.theirs());
  }

  /** Learns from the outcome of a question. */
  void learn(NodeAddress peer, @Nullable TransferResult outcome) {
    Refusal refusal = outcome == null ? null : outcome.refusal();
    if (refusal == Refusal.OTHER_DATASET) {
      agreement.refusedBy(peer);
    } else if (refusal == Refusal.NOT_COMPARED) {
      CompletableFuture<Verdict> unused = agreement.again(peer);
    }
  }

  /** Tells a former owner that this node holds an item now, if both have the same dataset. */
  void held(NodeAddress peer, ItemRequest request) {
    Transfer running = transfer.get();
    if (running != null) {
      agreement
          .known(peer)
          .filter(Verdict::isSame)
          .ifPresent(verdict -> running.held(peer, between(verdict), request));
    }
  }
}
