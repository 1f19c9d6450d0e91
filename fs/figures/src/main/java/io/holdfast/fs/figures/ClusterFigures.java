package io.holdfast.fs.figures;

import java.util.Map;

/**
 * The nodes that share the dataset. Immutable.
 *
 * @param listen the address where this node listens
 * @param dataset the id of the dataset that they share
 * @param view the version of the view
 * @param capacityBytes the capacity of all of them
 * @param share the share of the items that this node owns
 * @param refusals requests of peers that this node refused, by reason
 * @param plannedHitRatio the share of bytes that each epoch from the second on will hit here or at
 *     a peer
 * @param plan the plan of the nodes that know the orders of all ranks
 */
public record ClusterFigures(
    String listen,
    String dataset,
    long view,
    long nodes,
    long otherDataset,
    long capacityBytes,
    double share,
    long suspect,
    Map<String, Long> refusals,
    double plannedHitRatio,
    PlanFigures plan) {}
