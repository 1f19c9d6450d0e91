/**
 * The job that is analysed: {@link io.holdfast.fs.analyze.run.AnalyzedMount} asks the daemon of its
 * mount, {@link io.holdfast.fs.analyze.run.JobSearch} finds the job and its epochs in the figures,
 * and {@link io.holdfast.fs.analyze.run.AnalyzedRuns} runs a command and finds the job that it was.
 */
@NullMarked
package io.holdfast.fs.analyze.run;

import org.jspecify.annotations.NullMarked;
