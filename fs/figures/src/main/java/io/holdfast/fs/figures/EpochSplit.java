package io.holdfast.fs.figures;

import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Split;
import java.util.Locale;
import java.util.Optional;

/**
 * Divides the time of a job's readers by what they did, and says what the job waits for. Stateless;
 * pure functions.
 *
 * <p>The idea is that of DS-Analyzer (Mohan et al., "Analyzing and Mitigating Data Stalls in DNN
 * Training", VLDB 2021, section 4): a job's speed is the least of three rates, at which data is
 * fetched (F), prepared (P) and consumed (G). DS-Analyzer measures each in a run of its own. Here
 * they are told apart in one run of an unmodified job, by what its readers do:
 *
 * <ul>
 *   <li><i>Fetching</i>: blocked by a read that needs a fetch. The daemon measures it.
 *   <li><i>Preparation</i>: on a processor, or able to run and waiting for one. The kernel measures
 *       both. Another thread of the process that ran while a reader did neither counts too: the
 *       reader waited for it.
 *   <li><i>Back-pressure</i>: the rest. A reader that neither waits for data nor works waits for
 *       somebody to take what it has made.
 * </ul>
 *
 * <p>A reader waits for its consumer only if the consumer is slower than all readers together. So
 * notable back-pressure means that the consumer, the accelerator, is the bottleneck, however long
 * readers are blocked by fetches: eight readers that wait for the storage 90 % of the time may
 * starve nothing. Without back-pressure, readers are the bottleneck, and the larger of the two
 * other shares names the cause.
 *
 * <p>Readers that outnumber the processors wait for them also where processors rest most of the
 * time: what they have waited for comes to all at the same moments, and so they want to run at the
 * same moments. More processors would let them wait for the next file instead. So a wait for a
 * processor points to preparation only where processors were short: hardly any rested, or the
 * readers waited for longer than they can have for one another, because others take the processors
 * or a quota is used up.
 *
 * <p>The time in which at least one read waited for a fetch tells whether readers get what they
 * have waited for at the same moments:
 *
 * <ul>
 *   <li>It is shorter than if each reader waited independently of the others. Reads wait together
 *       while an origin that has given all it may gives to nobody. Then the origin gives at once
 *       what it has saved up, so it limits a job although it seems to rest for half of the time.
 *   <li>It is longer than processors worked. The bottleneck is the resource without which the job
 *       would be fastest. Without fetches, readers could use the processors that rest, and the
 *       epoch would take as long as processors worked. Without preparation, the epoch would take as
 *       long as a read waited, because the origin can give no more.
 *   <li>Otherwise each reader waits on its own, as for an origin that has latency alone, and more
 *       of them would ask at once if there were no preparation. Then a wait for a processor points
 *       to preparation.
 * </ul>
 *
 * <p>Limits. Readers that wait for one another before each file wait together for any origin, and
 * seem to wait for storage. A process that reads and trains in one thread has no queue, so no
 * back-pressure: its waits for an accelerator look like preparation if it spins, and like
 * back-pressure if it sleeps. The kernel reads ahead of a reader, and the daemon cannot know
 * whether the reader is blocked meanwhile: time on a processor is certain, so it takes precedence.
 * Waits for another disk or the network count as back-pressure.
 */
public final class EpochSplit {
  /**
   * The share of back-pressure from which the consumer is the bottleneck. Workers that are not held
   * up by their consumer still rest a little: between batches, at the end of a pass, and while a
   * request travels between kernel and daemon.
   */
  public static final double NOTABLE = 0.2;

  /** Processors that rest for less of the time are short. */
  private static final double RESTING = 0.05;

  /**
   * The most that a reader waits for others of its job, as a part of what it ran and of the others
   * that each processor has: if all want to run all the time, it is 1. Looks are not exact.
   */
  private static final double TURNS = 1.5;

  /**
   * Reads wait together if at least one of them waits for less than this part of the time that it
   * would be if each reader waited independently of the others. It was 0.55 to 0.68 of that for an
   * origin behind a limit, and 0.9 to 1 for one that has latency alone.
   */
  private static final double TOGETHER = 0.8;

  /** The share of their time that readers may wait for processors without being held up. */
  private static final double SMALL_DELAY = 0.05;

  /** The least time of readers that tells something. */
  private static final double FEWEST_SECONDS = 2;

  /** The fewest opens that tell something. */
  private static final long FEWEST_OPENS = 8;

  private static final double TEN_THOUSAND = 10_000;

  private EpochSplit() {}

  /**
   * A verdict.
   *
   * @param reason why, in one sentence
   */
  public record Finding(Bottleneck verdict, String reason) {
    /** Returns that it cannot be told. */
    public static Finding unknown(String reason) {
      return new Finding(Bottleneck.UNKNOWN, reason);
    }
  }

  /**
   * Returns what the readers did in an epoch, in seconds; empty if their time or CPU time is not
   * known. The shares that the epoch has are not looked at.
   */
  public static Optional<Split> seconds(Epoch epoch) {
    if (epoch.readerSeconds().isEmpty() || epoch.cpuSeconds().isEmpty()) {
      return Optional.empty();
    }
    double stall = epoch.originStallSeconds() + epoch.peerStallSeconds();
    // the stall is that of now, and the time of readers that of the last look
    double lived = Math.max(epoch.readerSeconds().getAsDouble(), stall);
    double cpu = epoch.cpuSeconds().getAsDouble();
    double ran = Math.min(cpu, epoch.readerCpuSeconds().orElse(cpu));
    double ready = Math.min(lived, ran + epoch.runDelaySeconds().orElse(0));
    double blocked = Math.min(stall, lived - ready);
    double rest = lived - ready - blocked;
    double others = Math.min(rest, cpu - ran);
    double byPeers = stall == 0 ? 0 : blocked * (epoch.peerStallSeconds() / stall);
    return Optional.of(new Split(blocked - byPeers, byPeers, ready + others, rest - others));
  }

  /**
   * Returns what the readers did in an epoch, as shares of four digits whose sum is 1; empty if
   * that is not known.
   */
  public static Optional<Split> shares(Epoch epoch) {
    Split seconds = seconds(epoch).orElse(null);
    if (seconds == null || seconds.sum() <= 0) {
      return Optional.empty();
    }
    // each bound between two shares is rounded, so that the sum stays 1
    double first = rounded(seconds.fetchOrigin() / seconds.sum());
    double second = rounded((seconds.fetchOrigin() + seconds.fetchPeer()) / seconds.sum());
    double third = rounded(1 - seconds.backPressure() / seconds.sum());
    return Optional.of(
        new Split(first, rounded(second - first), rounded(third - second), rounded(1 - third)));
  }

  private static double rounded(double share) {
    return Math.max(0, Math.round(share * TEN_THOUSAND) / TEN_THOUSAND);
  }

  /** Returns what a job waited for in an epoch. */
  public static Finding finding(Epoch epoch) {
    Split shares = shares(epoch).orElse(null);
    if (shares == null && epoch.opens() >= FEWEST_OPENS) {
      return Finding.unknown(
          "/proc showed no CPU time of its readers: they ended at once, or are hidden");
    }
    double seconds = epoch.readerSeconds().orElse(0);
    if (shares == null || seconds < FEWEST_SECONDS || epoch.opens() < FEWEST_OPENS) {
      return Finding.unknown(
          String.format(
              Locale.ROOT,
              "too little was seen: %d opens, and readers for %.1f s",
              epoch.opens(),
              seconds));
    }
    double fetches = shares.fetchOrigin() + shares.fetchPeer();
    if (shares.backPressure() >= NOTABLE) {
      return new Finding(
          Bottleneck.ACCELERATOR,
          "its readers wait "
              + percent(shares.backPressure())
              + " of their time until somebody takes what they have read");
    }
    if (fetches >= shares.preparation()) {
      return new Finding(
          Bottleneck.STORAGE,
          "its readers are blocked by fetches "
              + percent(fetches)
              + " of their time, and work "
              + percent(shares.preparation()));
    }
    double turns = turns(epoch) / seconds;
    if (fetches + turns >= shares.preparation() - turns) {
      return new Finding(
          Bottleneck.STORAGE,
          "its readers are blocked by fetches "
              + percent(fetches)
              + " of their time, work "
              + percent(shares.preparation() - turns)
              + ", and wait for processors "
              + percent(turns)
              + ", all at the same moments: processors rest "
              + percent(idle(epoch))
              + " of the time");
    }
    return new Finding(
        Bottleneck.PREPARATION,
        "its readers work, or wait for a processor, "
            + percent(shares.preparation())
            + " of their time, and are blocked by fetches "
            + percent(fetches));
  }

  /**
   * Returns the seconds for which readers waited for processors that were not short: for one
   * another, since they wanted to run at the same moments.
   */
  private static double turns(Epoch epoch) {
    double lived = epoch.readerSeconds().orElse(0);
    double processors = epoch.processorSeconds().orElse(0);
    if (processors <= 0 || lived <= 0 || idle(epoch) < RESTING || !mayComeAtTheSameMoments(epoch)) {
      return 0;
    }
    double cpu = epoch.cpuSeconds().orElse(0);
    double ran = Math.min(cpu, epoch.readerCpuSeconds().orElse(cpu));
    double delay = Math.min(lived - Math.min(lived, ran), epoch.runDelaySeconds().orElse(0));
    double others = Math.max(0, lived / processors - 1);
    return delay <= TURNS * others * ran + SMALL_DELAY * lived ? delay : 0;
  }

  /**
   * Tells whether what readers waited for may have come to several of them at the same moments.
   * True if an older daemon does not tell.
   */
  private static boolean mayComeAtTheSameMoments(Epoch epoch) {
    if (epoch.fetchingSeconds().isEmpty()) {
      return true;
    }
    double fetching = epoch.fetchingSeconds().getAsDouble();
    double lived = epoch.readerSeconds().orElse(0);
    double alone =
        secondsOfAny(
            epoch.seconds(), Math.min(1, epoch.stallSeconds() / lived), lived / epoch.seconds());
    return fetching < TOGETHER * alone || fetching > epoch.seconds() * (1 - idle(epoch));
  }

  /**
   * Returns for how long at least one of some readers waits, if each waits independently of the
   * others.
   *
   * @param seconds how long they live
   * @param share the share of its time for which each waits
   */
  public static double secondsOfAny(double seconds, double share, double readers) {
    return seconds * (1 - Math.pow(1 - share, readers));
  }

  /** Returns the share of the time for which processors had nothing to do. */
  private static double idle(Epoch epoch) {
    return epoch.processorIdleSeconds().orElse(0) / epoch.processorSeconds().orElse(1);
  }

  private static String percent(double share) {
    return Math.round(100 * share) + " %";
  }
}
