package io.holdfast.fs.figures;

import java.util.Map;

/** What failed for good, by cause: reads of applications, and fetches. Immutable. */
public record ErrorFigures(Map<String, Long> read, Map<String, Long> fetch) {}
