/**
 * {@code holdfast analyze}: why a job waits, and what would help. An {@link
 * io.holdfast.fs.analyze.Observation} is what was seen of an epoch; {@link
 * io.holdfast.fs.analyze.JobModel} has the rates that follow and predicts speeds; {@link
 * io.holdfast.fs.analyze.Analysis} is the report, which {@link
 * io.holdfast.fs.analyze.AnalysisJson}, {@link io.holdfast.fs.analyze.AnalysisText} and {@link
 * io.holdfast.fs.analyze.AnalysisPage} show. Nothing here asks a daemon or reads a file. Rates are
 * in bytes per second.
 */
@NullMarked
package io.holdfast.fs.analyze;

import org.jspecify.annotations.NullMarked;
