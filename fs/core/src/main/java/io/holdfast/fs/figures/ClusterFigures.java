package io.holdfast.fs.figures;

import java.util.Map;

/**
 * The nodes that share the dataset. Immutable.
 *
 * @param listen where this one listens
 * @param dataset the id that they share
 * @param view the version of what is known of them
 * @param capacityBytes what all of them may keep
 * @param share of the items that this node owns
 * @param refusals requests of peers that were refused, by reason
 * @param plannedHitRatio what each epoch from the second on will hit here or at a peer, by bytes
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
    double plannedHitRatio) {}
