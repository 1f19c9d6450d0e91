/**
 * {@code holdfast analyze}: why a job waits, and what would help. {@link
 * io.holdfast.fs.analyze.Analysis} is the report, from the epochs of a job and the {@link
 * io.holdfast.fs.throughput.JobModel} that follows from them; {@link
 * io.holdfast.fs.analyze.AnalysisJson}, {@link io.holdfast.fs.analyze.AnalysisText} and {@link
 * io.holdfast.fs.analyze.AnalysisPage} show it. Nothing here asks a daemon or reads a file. Rates
 * are in bytes per second.
 */
@NullMarked
package io.holdfast.fs.analyze;

import org.jspecify.annotations.NullMarked;
