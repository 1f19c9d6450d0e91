package io.holdfast.fs.figures;

/**
 * The plan of the nodes that know the orders of all ranks. Bytes are those of whole pages.
 * Immutable.
 *
 * @param state {@code followed}, or why no plan is
 * @param epoch the epoch of this node's ranks; -1 if no plan is followed
 * @param localBytes what this node's ranks are to read in the epoch from its own memory
 * @param peerBytes what they are to read through other nodes
 * @param originBytes what this node is to fetch from the origin in the epoch
 * @param elsewhereItems items that were not where the plan said, since it is followed
 */
public record PlanFigures(
    String state,
    long epoch,
    long localBytes,
    long peerBytes,
    long originBytes,
    long elsewhereItems) {
  private static final String FOLLOWED = "followed";

  /** Returns the figures of a plan that is followed. */
  public static PlanFigures followed(
      long epoch, long localBytes, long peerBytes, long originBytes, long elsewhereItems) {
    return new PlanFigures(FOLLOWED, epoch, localBytes, peerBytes, originBytes, elsewhereItems);
  }

  /** Tells whether a plan is followed. */
  public boolean isFollowed() {
    return state.equals(FOLLOWED);
  }

  /** Returns the figures while no plan is followed. */
  public static PlanFigures none(String why) {
    return new PlanFigures(why, -1, 0, 0, 0, 0);
  }
}
