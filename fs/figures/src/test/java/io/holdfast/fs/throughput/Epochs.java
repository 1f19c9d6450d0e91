package io.holdfast.fs.throughput;

import io.holdfast.fs.figures.JobsFigures.Epoch;
import java.util.Optional;
import java.util.OptionalDouble;

/** Makes figures of epochs. */
public final class Epochs {
  long epoch = 2;
  double seconds = 10;
  long bytes = 1_000_000_000;
  long originBytes;
  long peerBytes;
  double originStall;
  double peerStall;
  OptionalDouble fetching = OptionalDouble.empty();
  double cpu;
  double runDelay;
  boolean withoutCpu;
  double lived;
  int readers = 1;

  /** Returns a node on its own, whose origin is a disk. */
  public static Evidence.Site site(int processors) {
    return new Evidence.Site(processors, 1, false, OptionalDouble.empty());
  }

  public static Epochs of(long epoch) {
    Epochs made = new Epochs();
    made.epoch = epoch;
    return made;
  }

  public Epochs in(double time) {
    seconds = time;
    return this;
  }

  public Epochs bytes(long all) {
    bytes = all;
    return this;
  }

  /** Fetched from the origin, for which readers were blocked so many seconds together. */
  public Epochs origin(long fetched, double stall) {
    originBytes = fetched;
    originStall = stall;
    return this;
  }

  /** The same for peers. */
  public Epochs peer(long fetched, double stall) {
    peerBytes = fetched;
    peerStall = stall;
    return this;
  }

  /** At least one reader was blocked so long. */
  public Epochs fetching(double time) {
    fetching = OptionalDouble.of(time);
    return this;
  }

  public Epochs by(int count, double cpuSeconds) {
    readers = count;
    cpu = cpuSeconds;
    return this;
  }

  /** Readers could have run, and waited for a processor. */
  public Epochs waitingForProcessors(double readerSeconds) {
    runDelay = readerSeconds;
    return this;
  }

  /** Readers lived for so long together, and not for all of the epoch. */
  public Epochs living(double readerSeconds) {
    lived = readerSeconds;
    return this;
  }

  public Epochs withoutCpu() {
    withoutCpu = true;
    return this;
  }

  public Epoch figures() {
    OptionalDouble known = withoutCpu ? OptionalDouble.empty() : OptionalDouble.of(cpu);
    OptionalDouble readerSeconds =
        withoutCpu
            ? OptionalDouble.empty()
            : OptionalDouble.of(lived > 0 ? lived : seconds * readers);
    return new Epoch(
        epoch,
        Math.max(8, bytes / 1_000_000),
        originBytes / 1_000_000,
        OptionalDouble.empty(),
        originStall + peerStall,
        seconds,
        bytes,
        originBytes,
        peerBytes,
        originStall,
        peerStall,
        fetching,
        known,
        known,
        withoutCpu ? OptionalDouble.empty() : OptionalDouble.of(runDelay),
        readerSeconds,
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        withoutCpu ? 0 : readers,
        Optional.empty());
  }

  public Observation seen() {
    return Observation.of(figures());
  }
}
