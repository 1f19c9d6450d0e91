package io.holdfast.fs.plan;

/**
 * Where a job is in its order. Immutable.
 *
 * @param pass how many passes of the order it has read to their ends; the last pass is not among
 *     these
 * @param position how many files of this pass it has opened, up to the first that it has not
 * @param isLast whether no pass follows this one, so far
 */
public record JobPlace(int pass, int position, boolean isLast) {}
