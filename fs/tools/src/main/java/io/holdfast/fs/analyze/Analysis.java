package io.holdfast.fs.analyze;

import io.holdfast.fs.throughput.JobModel;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import io.holdfast.fs.throughput.WhatIf;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The report of a job. Immutable.
 *
 * @param runs its epochs
 * @param model its rates, and what follows; empty if no epoch tells anything, or if there is a
 *     {@link #doubt}
 * @param whatIf what would change its speed
 * @param knee the share of the dataset in each node's memory from which on more brings nothing;
 *     empty if that cannot be told
 * @param notes what a reader has to know of it
 */
public record Analysis(
    Subject subject,
    Runs runs,
    Optional<JobModel> model,
    List<WhatIf> whatIf,
    OptionalDouble knee,
    List<String> notes) {

  /**
   * Analyses a job.
   *
   * @param more what a reader has to know besides
   */
  public static Analysis of(Subject subject, Runs runs, List<String> more) {
    Optional<JobModel> model =
        runs.evidence(subject.site(), subject.datasetBytes()).map(JobModel::new);
    List<String> notes = new ArrayList<>(more);
    if (runs.isLastUnderWay()) {
      notes.add("the last epoch is under way: its figures are those so far");
    }
    if (runs.hasEndedEarly()) {
      notes.add("the job ended in the middle of its last epoch, which is set apart");
    }
    if (model.isPresent() && !runs.hasLater()) {
      notes.add(
          "there is no whole epoch after the first: rates are those of that one, which also fills"
              + " the memory");
    }
    if (model.isPresent() && model.get().rates().originAtLeast().isPresent()) {
      notes.add(
          "the job hardly waited for the origin, so that its rate cannot be told: it is at least"
              + " what came from it, and speeds that depend on it are the least that they can be");
    }
    return new Analysis(
        subject,
        runs,
        model,
        model.map(WhatIf::all).orElse(List.of()),
        model.map(JobModel::knee).orElse(OptionalDouble.empty()),
        List.copyOf(notes));
  }

  /** Returns why it cannot be told which share of its bytes was in memory; empty where it can. */
  public Optional<String> doubt() {
    return runs.doubt(subject.datasetBytes());
  }

  /** Returns what to do, in one paragraph. */
  public String advice() {
    return model
        .map(
            known -> {
              double files = known.bytesOfAll(subject.datasetBytes());
              return new Advice(known, knee, Math.round(subject.memoryPerByte() * files)).text();
            })
        .orElseGet(this::nothing);
  }

  private String nothing() {
    if (runs.epochs().isEmpty()) {
      return "Cannot be told: no epoch was seen.";
    }
    Observation last = runs.epochs().get(runs.epochs().size() - 1);
    return doubt()
        .map(why -> "What would make it faster cannot be told: " + why + ".")
        .orElse("Cannot be told: " + last.finding().reason() + ".");
  }
}
