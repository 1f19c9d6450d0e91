package io.holdfast.fs.throughput;

import io.holdfast.fs.figures.ClusterFigures;
import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.figures.Figures;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The epochs and the machine from which a job's rates are computed. Immutable.
 *
 * @param now how the job runs: its mean epoch without the first
 * @param cold the epoch that tells most of the origin
 * @param warm the epoch that tells most of preparation and accelerator
 * @param site where it runs
 */
public record Evidence(Observation now, Observation cold, Observation warm, Site site) {

  /**
   * Where a job runs. Immutable.
   *
   * @param processors those that it may use
   * @param nodes those that share the dataset's memory; 1 without peers
   * @param originScales whether more requests at once to the origin bring more: it has latency to
   *     hide, and bandwidth left
   * @param memoryRate bytes per second that resident files are read at; empty if that is not known
   */
  public record Site(int processors, int nodes, boolean originScales, OptionalDouble memoryRate) {
    /**
     * The requests at once to an origin that answers slowly: so many at first, fewer if answers
     * take twice as long as without load.
     */
    private static final long TURNS_AT_FIRST = 16;

    /** With fewer readers, their requests are too few to tell. */
    private static final int FEWEST_READERS = 3;

    private static final int MOST_READERS = 1000;

    /** No machine has more processors. */
    private static final int MOST_PROCESSORS = 1 << 16;

    /**
     * Returns what the figures of a mount of this machine tell.
     *
     * @param epochs those of the job
     * @param memoryRate as of a site
     */
    public static Site of(Figures figures, List<Observation> epochs, OptionalDouble memoryRate) {
      int readers =
          epochs.stream()
              .mapToInt(each -> (int) Math.min(MOST_READERS, each.epoch().readers()))
              .max()
              .orElse(0);
      return new Site(
          processors(epochs),
          (int) Math.max(1, figures.cluster().map(ClusterFigures::nodes).orElse(1L)),
          scales(figures.fetches().origin(), readers),
          memoryRate);
    }

    /**
     * Returns the processors of the machine, as its clock of them tells; at least those that this
     * process may use, which may be fewer: it may be in a container, and the job in none.
     */
    private static int processors(List<Observation> epochs) {
      double of = 0;
      double seconds = 0;
      for (Observation each : epochs) {
        double known = each.epoch().processorSeconds().orElse(0);
        of += known;
        seconds += known > 0 ? each.epoch().seconds() : 0;
      }
      long machine = seconds > 0 ? Math.round(of / seconds) : 0;
      int own = Runtime.getRuntime().availableProcessors();
      return (int) Math.max(own, Math.min(MOST_PROCESSORS, machine));
    }

    /**
     * Tells whether the origin answers all readers at once as fast as one. The daemon gives an
     * origin fewer requests at once when its answers take twice as long as without load; a local
     * one has no such limit, and is a disk that is shared.
     */
    private static boolean scales(FetchFigures.Origin origin, int readers) {
      return origin.limit() >= TURNS_AT_FIRST && readers >= FEWEST_READERS;
    }
  }
}
