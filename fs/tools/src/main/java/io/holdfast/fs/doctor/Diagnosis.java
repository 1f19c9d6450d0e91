package io.holdfast.fs.doctor;

/**
 * A line of the doctor's report. Immutable.
 *
 * @param scope {@code machine}, or the name of a mount
 * @param probe the name of the probe
 * @param finding the probe's finding
 */
public record Diagnosis(String scope, String probe, Finding finding) {}
