package io.holdfast.fs.simulate;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.peer.Rendezvous;
import io.holdfast.policy.ItemHash;
import io.holdfast.policy.simulator.Scenario;
import java.util.Arrays;

/** Chooses the node that an item belongs to by rendezvous hashing, as a cluster does. Stateless. */
public final class PeerPlacement {
  private PeerPlacement() {}

  /** Returns the placement among nodes of the same weight. */
  public static Scenario.Placement ofEqualNodes(int nodes) {
    long[] names = new long[nodes];
    Arrays.setAll(names, node -> ItemHash.of(("node-" + node).getBytes(UTF_8), 0));
    double[] weights = new double[nodes];
    Arrays.fill(weights, 1);
    return hash -> Rendezvous.owner(hash, names, weights);
  }
}
