package io.holdfast.fs.doctor;

/**
 * A line of the doctor's report. Immutable.
 *
 * @param scope {@code machine}, or the name of a mount
 * @param probe what was looked at
 * @param finding what was found
 */
public record Diagnosis(String scope, String probe, Finding finding) {}
