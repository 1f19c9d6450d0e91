package io.holdfast.fs.peers;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.plan.Planned;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Borrower;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.Loan;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.ItemProvider;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Refusal;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers peers. It sends a resident item from its pinned pages. It fetches any other item,
 * together with local readers, if this node is to keep the item and has room. Thread-safe. A thread
 * waits only where the origin must be asked for a name.
 */
public final class PeerService {
  private static final Logger log = LoggerFactory.getLogger(PeerService.class);

  private final Cluster cluster;
  private final Tree tree;
  private final ItemLayout layout;
  private final Transit transit;
  private final Residency residency;
  private final Planned plans;
  private final Executor threads;

  /**
   * Creates a service.
   *
   * @param threads ask the origin for names
   */
  public PeerService(
      Cluster cluster,
      Tree tree,
      ItemLayout layout,
      Transit transit,
      Residency residency,
      Planned plans,
      Executor threads) {
    this.cluster = cluster;
    this.tree = tree;
    this.layout = layout;
    this.transit = transit;
    this.residency = residency;
    this.plans = plans;
    this.threads = threads;
  }

  /**
   * Finds an item. The answer is given exactly once, now or later, from any thread.
   *
   * <p>If both nodes read one store, this node's knowledge may be older than the asker's even if
   * size and modification time are equal; then the origin is asked.
   *
   * @param request the request of a node with the same dataset
   * @param by that node
   * @param oneStore whether the asker reads the same store
   */
  public void get(
      ItemRequest request, NodeAddress by, boolean oneStore, ItemProvider.Answer answer) {
    Item known = itemOf(known(request.path().bytes()), request, oneStore);
    if (known != null) {
      give(known, request, by, answer);
      return;
    }
    try {
      threads.execute(() -> lookUpAndGive(request, by, oneStore, answer));
    } catch (RejectedExecutionException e) {
      answer.refused(Refusal.BUSY);
    }
  }

  private @Nullable Node known(byte[] path) {
    Node node = tree.root();
    int start = 0;
    for (int i = 0; node != null && i <= path.length; i++) {
      if (i == path.length || path[i] == '/') {
        node = tree.known(node, Arrays.copyOfRange(path, start, i));
        start = i + 1;
      }
    }
    return node;
  }

  /** Returns the requested item, or null where the file is not known with this version. */
  private @Nullable Item itemOf(@Nullable Node node, ItemRequest request, boolean oneStore) {
    if (node == null
        || !node.attributes().isRegular()
        || !PeerRequests.isAskedFor(request.tag(), node.version(), oneStore)) {
      return null;
    }
    Content content = new Content(node.id(), node::path, node.version());
    if (request.extent() < 0 || request.extent() >= layout.count(content.version().size())) {
      return null;
    }
    Item item = layout.item(content, request.extent());
    boolean within =
        request.from() >= 0
            && request.length() > 0
            && request.from() <= item.length() - request.length();
    return within && item.length() == request.itemLength() ? item : null;
  }

  private void lookUpAndGive(
      ItemRequest request, NodeAddress by, boolean oneStore, ItemProvider.Answer answer) {
    try {
      Node node = lookUp(request.path().bytes());
      Item item = itemOf(node, request, oneStore);
      if (item != null) {
        give(item, request, by, answer);
      } else {
        answer.refused(node.attributes().isRegular() ? Refusal.OTHER_VERSION : Refusal.UNKNOWN);
      }
    } catch (FsException e) {
      answer.refused(
          switch (e.code()) {
            case NOT_FOUND, NOT_DIRECTORY, SYMLINK, NAME_TOO_LONG -> Refusal.UNKNOWN;
            default -> Refusal.ORIGIN_FAILED;
          });
    } catch (OutOfMemoryError e) {
      answer.refused(Refusal.ORIGIN_FAILED);
      OutOfMemory.tell(e);
    } catch (RuntimeException | Error e) {
      answer.refused(Refusal.ORIGIN_FAILED);
      log.error("{} could not be looked up for a peer", request.path(), e);
    }
  }

  /** Asks the origin for the file, and for directories that are not known. */
  private Node lookUp(byte[] path) throws FsException {
    Node node = tree.root();
    int start = 0;
    for (int i = 0; i <= path.length; i++) {
      if (i == path.length || path[i] == '/') {
        byte[] name = Arrays.copyOfRange(path, start, i);
        node =
            i == path.length ? tree.lookupWhateverTheWay(node, name) : tree.directory(node, name);
        start = i + 1;
      }
    }
    return node;
  }

  private void give(Item item, ItemRequest request, NodeAddress by, ItemProvider.Answer answer) {
    boolean sends = request.from() + request.length() == item.length() && !request.onlyIfCached();
    Lender lender =
        new Lender(
            answer,
            () -> {
              if (sends) {
                plans.sent(item, by.toString());
              }
            });
    if (residency.serve(item, request.from(), request.length(), lender)) {
      return;
    }
    if (request.onlyIfCached()) {
      if (!transit.lendIfHere(item, request.from(), request.length(), lender)) {
        answer.refused(Refusal.NOT_CACHED);
      }
    } else if (residency.isResident(item) || isToKeep(item)) {
      transit.lend(item, request.from(), request.length(), lender);
    } else {
      answer.refused(Refusal.FULL);
    }
  }

  private boolean isToKeep(Item item) {
    if (!residency.wouldAdmit(item) && !residency.wouldSwap(item)) {
      return false;
    }
    if (plans.find(item) != null) {
      return plans.keeps(item);
    }
    Cluster.Place place = cluster.place(item);
    return place.isOwn() || place.isNext();
  }

  /** Learns that a node which asked for an item before holds it now. */
  public void held(ItemRequest request, NodeAddress by) {
    Item item = itemOf(known(request.path().bytes()), request, false);
    if (item != null
        && plans.find(item) == null
        && cluster.place(item).otherOwner().filter(by::equals).isPresent()) {
      residency.cede(item);
    }
  }

  /** Returns how many bytes are resident on this node. */
  public long residentBytes() {
    return residency.figures().residentBytes();
  }

  /**
   * Passes on the loans of transit or residency.
   *
   * @param ended is called once the bytes were sent, or could not be sent
   */
  private record Lender(ItemProvider.Answer answer, Runnable ended) implements Borrower {
    @Override
    public void lent(Loan loan) {
      answer.lent(new Lent(loan, ended));
    }

    @Override
    public void failed(FsException cause) {
      answer.refused(cause.code() == FsError.STALE ? Refusal.OTHER_VERSION : Refusal.ORIGIN_FAILED);
    }
  }

  private record Lent(Loan loan, Runnable ended) implements io.holdfast.peer.transfer.BufferLease {
    @Override
    public long address() {
      return loan.bytes().address();
    }

    @Override
    public int length() {
      return loan.bytes().length();
    }

    @Override
    public byte[] sha256() {
      return loan.checksum();
    }

    @Override
    public void close() {
      loan.release();
      ended.run();
    }
  }
}
