package io.holdfast.fs.figures;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The jobs that read. Immutable.
 *
 * <p>A <i>reader</i> is a thread that was seen to open or read files. A worker of Python's
 * multiprocessing, and so of a PyTorch DataLoader, is a process with one reader. A process that
 * reads in several threads has as many readers. A thread that opens files at less than a sixteenth
 * of the rate of the job's readers, such as the main process that has opened an index, is none.
 *
 * @param by how processes are grouped into jobs
 */
public record JobsFigures(String by, List<Job> jobs) {

  /** Returns the same with other rows. */
  public JobsFigures with(List<Job> others) {
    return new JobsFigures(by, others);
  }

  /**
   * A job. Immutable.
   *
   * @param processes the number of its processes that were seen
   * @param endedSeconds how long ago it read something, if none of its processes is alive; empty
   *     also where that cannot be told, because {@code /proc} does not show them
   * @param parentAlive whether it has ended, but a process is alive that has started one of its
   *     processes, and may start the next: the main process of a training job between two epochs.
   *     The system, and a shell that leads a session, do not count
   * @param items the items of the files that were opened
   * @param hitRatio the share of items that needed no fetch; empty if that is not known
   * @param splitSeconds what the readers did, in seconds since the mount; never falls. Empty if
   *     that is not known
   * @param verdict for what the job waits: {@code storage}, {@code preparation}, {@code
   *     accelerator} or {@code unknown}; see {@link EpochSplit}. Of the epoch under way, or of the
   *     one before it while too little of it was seen
   * @param reason why, in one sentence
   * @param epoch the number of the job's pass over the dataset; 0 before the first, -1 if the row
   *     sums up several jobs
   * @param epochs the first and the last 15; the one under way comes last
   */
  public record Job(
      String job,
      long processes,
      OptionalDouble endedSeconds,
      boolean parentAlive,
      long opens,
      long items,
      long misses,
      OptionalDouble hitRatio,
      long fetchedBytes,
      double stallSeconds,
      Optional<Split> splitSeconds,
      String verdict,
      String reason,
      long epoch,
      List<Epoch> epochs) {
    /** Tells whether it has ended, and no process is alive that may start its next ones. */
    public boolean isOver() {
      return endedSeconds.isPresent() && !parentAlive;
    }
  }

  /**
   * A pass of a job over the dataset. Immutable.
   *
   * <p>Times of several readers are added up. The CPU time of a process that ended counts up to the
   * last look at it, which was at most some seconds before its end, and so do its readers. So these
   * figures are those of whole looks, while opens and stalls are exact.
   *
   * @param hitRatio as of a job
   * @param stallSeconds how long readers were blocked; the sum of the stalls by tier
   * @param seconds how long the pass took, or has taken so far, without the pauses of the job
   * @param bytes the size of the files opened, of each as often as its open counts: what the job
   *     needed, if it reads files whole
   * @param originBytes bytes fetched from the origin because the job read, or because another job
   *     did and this one waited for them
   * @param peerBytes bytes that peers sent for the same
   * @param originStallSeconds how long readers were blocked by reads that the origin answered, or
   *     that failed. Reads that memory answered count here too, and take next to no time
   * @param peerStallSeconds how long readers were blocked by reads that a peer answered
   * @param fetchingSeconds how long at least one reader was blocked; empty in the figures of an
   *     older daemon
   * @param cpuSeconds CPU time, user and system, of all threads of the processes that read; empty
   *     if {@code /proc} does not show it
   * @param readerCpuSeconds the part of it that the readers themselves took
   * @param runDelaySeconds how long readers could have run, and waited for a processor
   * @param readerSeconds how long the readers lived, from the first open or read of each
   * @param processorSeconds the time of all processors of the machine meanwhile; empty if the
   *     kernel does not tell
   * @param processorIdleSeconds the part of it in which processors had nothing to do
   * @param readers the most readers at a time; 0 if that is not known
   * @param shares what the readers did, as shares of their time; empty if that is not known
   */
  public record Epoch(
      long epoch,
      long opens,
      long misses,
      OptionalDouble hitRatio,
      double stallSeconds,
      double seconds,
      long bytes,
      long originBytes,
      long peerBytes,
      double originStallSeconds,
      double peerStallSeconds,
      OptionalDouble fetchingSeconds,
      OptionalDouble cpuSeconds,
      OptionalDouble readerCpuSeconds,
      OptionalDouble runDelaySeconds,
      OptionalDouble readerSeconds,
      OptionalDouble processorSeconds,
      OptionalDouble processorIdleSeconds,
      long readers,
      Optional<Split> shares) {

    /** Returns the same with other shares. */
    public Epoch with(Optional<Split> others) {
      return new Epoch(
          epoch,
          opens,
          misses,
          hitRatio,
          stallSeconds,
          seconds,
          bytes,
          originBytes,
          peerBytes,
          originStallSeconds,
          peerStallSeconds,
          fetchingSeconds,
          cpuSeconds,
          readerCpuSeconds,
          runDelaySeconds,
          readerSeconds,
          processorSeconds,
          processorIdleSeconds,
          readers,
          others);
    }
  }

  /**
   * The time of readers by what they did, in seconds or as shares whose sum is 1; {@link
   * EpochSplit} computes it. Immutable.
   *
   * @param fetchOrigin blocked by a fetch from the origin
   * @param fetchPeer blocked by a fetch from a peer
   * @param preparation on a processor, or waiting for one
   * @param backPressure the rest: waiting for whoever consumes what was read
   */
  public record Split(
      double fetchOrigin, double fetchPeer, double preparation, double backPressure) {
    /** Returns the sum of this and another. */
    public Split plus(Split other) {
      return new Split(
          fetchOrigin + other.fetchOrigin,
          fetchPeer + other.fetchPeer,
          preparation + other.preparation,
          backPressure + other.backPressure);
    }

    /** Returns the sum of both, or the one that is known. */
    public static Optional<Split> sum(Optional<Split> a, Optional<Split> b) {
      return a.isEmpty() ? b : b.isEmpty() ? a : Optional.of(a.get().plus(b.get()));
    }

    /** Returns the larger of each figure. */
    public Split most(Split other) {
      return new Split(
          Math.max(fetchOrigin, other.fetchOrigin),
          Math.max(fetchPeer, other.fetchPeer),
          Math.max(preparation, other.preparation),
          Math.max(backPressure, other.backPressure));
    }

    /** Returns the sum of all. */
    public double sum() {
      return fetchOrigin + fetchPeer + preparation + backPressure;
    }
  }
}
