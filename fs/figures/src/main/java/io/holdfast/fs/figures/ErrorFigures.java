package io.holdfast.fs.figures;

import java.util.Map;

/** The reads of applications, and the fetches, that failed for good, by cause. Immutable. */
public record ErrorFigures(Map<String, Long> read, Map<String, Long> fetch) {}
