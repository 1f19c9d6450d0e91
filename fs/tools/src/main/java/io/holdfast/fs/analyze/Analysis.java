package io.holdfast.fs.analyze;

import io.holdfast.fs.throughput.JobModel;
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
 * @param model its rates, and what follows; empty if no epoch tells anything
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
    Optional<JobModel> model = runs.evidence(subject.site()).map(JobModel::new);
    List<String> notes = new ArrayList<>(more);
    if (runs.isLastUnderWay()) {
      notes.add("the last epoch is under way: its figures are those so far");
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
    return runs.epochs().isEmpty()
        ? "Cannot be told: no epoch was seen."
        : "Cannot be told: " + runs.epochs().get(runs.epochs().size() - 1).finding().reason() + ".";
  }
}
