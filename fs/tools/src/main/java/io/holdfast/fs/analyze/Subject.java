package io.holdfast.fs.analyze;

import io.holdfast.fs.throughput.Evidence;

/**
 * Whose epochs are analysed. Immutable.
 *
 * @param job its name
 * @param mount where it read
 * @param datasetBytes what the dataset has; 0 if that is not known
 * @param site where it ran
 */
public record Subject(String job, String mount, long datasetBytes, Evidence.Site site) {}
