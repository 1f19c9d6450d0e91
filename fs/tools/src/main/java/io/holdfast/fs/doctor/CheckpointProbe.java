package io.holdfast.fs.doctor;

import io.holdfast.fs.FsException;
import java.util.List;
import java.util.Map;

/** Checks whether the store of a checkpoint mount takes what programs save. */
final class CheckpointProbe implements Probe {
  private final Subject subject;
  private final PendingAnswers pending;

  CheckpointProbe(Subject subject, PendingAnswers pending) {
    this.subject = subject;
    this.pending = pending;
  }

  @Override
  public String name() {
    return "store";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    Answers answers = pending.answers();
    FsException trouble = answers.trouble();
    Map<String, Object> stats = answers.stats();
    if (trouble != null || stats == null) {
      return trouble == null ? List.of() : List.of(AnswerProbe.explain(subject, trouble));
    }
    Map<?, ?> figures = stats.get("checkpoint") instanceof Map<?, ?> map ? map : Map.of();
    if (Boolean.TRUE.equals(figures.get("store_fails"))) {
      return List.of(
          Finding.warn(
              "%s fails, and is asked again: %s"
                  .formatted(stats.get("store"), figures.get("last_error")),
              "repair it: nothing is lost; 'holdfast stats %s' tells what waits"
                  .formatted(subject.name())));
    }
    return List.of(Finding.ok("%s: %s".formatted(stats.get("store"), figures.get("state"))));
  }
}
