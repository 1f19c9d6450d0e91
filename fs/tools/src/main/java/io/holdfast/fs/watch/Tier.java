package io.holdfast.fs.watch;

import io.holdfast.fs.figures.DatasetFigures;
import java.util.List;

/**
 * A source of files in some time: memory, peers or the origin. An unknown figure is NaN. Immutable.
 *
 * @param name memory, peers or origin
 * @param items the items that came from there; for memory, those that needed no fetch
 * @param bytes the bytes that came from there
 * @param guessed whether the bytes are a guess from the dataset's mean file, because the kernel
 *     does not report reads of its page cache
 * @param share its share of the items of all tiers
 */
record Tier(String name, double items, double bytes, boolean guessed, double share) {

  static List<Tier> of(Change change) {
    double hitRatio = change.hitRatio();
    double peer = change.peerItems();
    double origin = change.originItems();
    double memory = hitRatio * change.items();
    double all = memory + peer + origin;
    DatasetFigures dataset = change.now().dataset();
    double mean = (double) dataset.bytes() / Math.max(1, dataset.files());
    return List.of(
        new Tier("memory", memory, hitRatio * change.opens() * mean, true, part(memory, all)),
        new Tier("peers", peer, change.peerBytes(), false, part(peer, all)),
        new Tier("origin", origin, change.originBytes(), false, part(origin, all)));
  }

  private static double part(double items, double all) {
    return all > 0 ? items / all : Double.NaN;
  }
}
