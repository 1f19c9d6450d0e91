package io.holdfast.fs.watch;

import io.holdfast.fs.figures.DatasetFigures;
import java.util.List;

/**
 * Where files came from in some time: memory, peers or the origin. What cannot be told is not a
 * number. Immutable.
 *
 * @param name memory, peers or origin
 * @param items how many came from there; of memory, how many opens needed no fetch
 * @param bytes how many came from there
 * @param guessed whether the bytes are a guess from the dataset's mean file: the kernel does not
 *     say what is read of its page cache
 * @param share of the items of all tiers
 */
record Tier(String name, double items, double bytes, boolean guessed, double share) {

  static List<Tier> of(Change change) {
    double hitRatio = change.hitRatio();
    double peer = change.peerItems();
    double origin = change.originItems();
    double memory = Double.isNaN(hitRatio) ? Double.NaN : hitRatio * change.opens();
    double all = memory + peer + origin;
    DatasetFigures dataset = change.now().dataset();
    double mean = (double) dataset.bytes() / Math.max(1, dataset.files());
    return List.of(
        new Tier("memory", memory, memory * mean, true, part(memory, all)),
        new Tier("peers", peer, change.peerBytes(), false, part(peer, all)),
        new Tier("origin", origin, change.originBytes(), false, part(origin, all)));
  }

  private static double part(double items, double all) {
    return all > 0 ? items / all : Double.NaN;
  }
}
