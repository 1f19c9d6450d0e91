/**
 * Checks what monitoring gets: the form of a scrape ({@link io.holdfast.monitoring.MetricsLint}),
 * the document that is made from the declarations, and that the dashboard and the alerts ask for
 * existing metrics.
 */
@NullMarked
package io.holdfast.monitoring;

import org.jspecify.annotations.NullMarked;
