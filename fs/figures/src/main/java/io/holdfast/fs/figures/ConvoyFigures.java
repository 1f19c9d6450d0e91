package io.holdfast.fs.figures;

/**
 * Jobs that read one order at nearly the same time, and share what one of them has fetched.
 * Immutable.
 *
 * @param job the first of the jobs, in the order of the alphabet
 * @param jobs how many jobs there are, at least two
 * @param gapBytes bytes in transit, of files that a job has fetched and others have yet to read
 * @param budgetBytes the most bytes that all convoys of the mount may have there
 * @param delayedSeconds how long misses were delayed for jobs that come later, each job's by itself
 */
public record ConvoyFigures(
    String job, long jobs, long gapBytes, long budgetBytes, double delayedSeconds) {}
