package io.holdfast.fs.watch;

import java.util.List;
import java.util.Map;

/**
 * What a mount said of itself at one moment. Immutable as far as its maps are.
 *
 * @param stats as {@code stats.json}
 * @param peers as {@code peers.json}; none where the mount has no peers
 * @param nanos when, on any clock of nanoseconds
 */
public record Snapshot(Map<String, Object> stats, List<Map<String, Object>> peers, long nanos) {}
