package io.holdfast.fs.analyze;

import io.holdfast.fs.throughput.Epochs;
import io.holdfast.fs.throughput.Evidence;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import java.util.List;
import java.util.OptionalDouble;

/** Reports of jobs that there are not. */
final class Reports {
  private Reports() {}

  /**
   * Four readers, two processors that prepare 75 MB/s each, an origin of 50 MB/s, 35 % in memory: a
   * first epoch from the origin alone, and two later ones.
   */
  static Analysis storage(String job, String mount) {
    return Analysis.of(subject(job, mount), Runs.of(storageEpochs(), true, true), List.of());
  }

  static Subject subject(String job, String mount) {
    return new Subject(job, mount, 1_000_000_000, Epochs.site(2));
  }

  static List<Observation> storageEpochs() {
    return List.of(
        Epochs.of(1).in(20).origin(1_000_000_000, 66).by(4, 13.3).seen(),
        Epochs.of(2).in(13).origin(650_000_000, 38.5).by(4, 13.3).seen(),
        Epochs.of(3).in(13.1).origin(650_000_000, 38.9).by(4, 13.3).seen());
  }

  /** Four readers whose two processors are always busy. */
  static Analysis preparation() {
    List<Observation> epochs =
        List.of(
            Epochs.of(1).in(25).origin(1_000_000_000, 30).by(4, 46).waitingForProcessors(20).seen(),
            Epochs.of(2).in(25).origin(500_000_000, 3).by(4, 50).waitingForProcessors(46).seen());
    Subject subject = new Subject("train", "/data", 0, Epochs.site(4));
    return Analysis.of(subject, Runs.of(epochs, true, true), List.of());
  }

  /** The same from an origin that they hardly ever wait for. */
  static Analysis preparationAlone() {
    List<Observation> epochs =
        List.of(
            Epochs.of(1).in(26).origin(1_000_000_000, 2).by(4, 51).waitingForProcessors(50).seen(),
            Epochs.of(2).in(25).origin(500_000_000, 1).by(4, 50).waitingForProcessors(48).seen());
    Subject subject = new Subject("train", "/data", 0, Epochs.site(4));
    return Analysis.of(subject, Runs.of(epochs, true, true), List.of());
  }

  /** Eight readers that rest 80 % of their time. */
  static Analysis accelerator() {
    List<Observation> epochs =
        List.of(
            Epochs.of(1).in(20).origin(1_000_000_000, 60).by(8, 10).seen(),
            Epochs.of(2).in(10).origin(100_000_000, 8).by(8, 8).seen());
    Subject subject = new Subject("train", "/data", 0, Epochs.site(8));
    return Analysis.of(subject, Runs.of(epochs, true, true), List.of());
  }

  static Analysis empty() {
    return Analysis.of(
        new Subject("train", "/data", 0, new Evidence.Site(1, 1, false, OptionalDouble.empty())),
        Runs.of(List.of(), true, true),
        List.of());
  }
}
