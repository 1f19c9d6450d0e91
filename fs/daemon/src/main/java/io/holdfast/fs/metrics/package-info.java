/**
 * The metrics for monitoring: {@link io.holdfast.fs.metrics.Metrics} declares each metric once,
 * {@link io.holdfast.fs.metrics.Exposition} writes them in Prometheus's format, {@link
 * io.holdfast.fs.metrics.ScrapeSite} answers scrapes.
 */
@NullMarked
package io.holdfast.fs.metrics;

import org.jspecify.annotations.NullMarked;
