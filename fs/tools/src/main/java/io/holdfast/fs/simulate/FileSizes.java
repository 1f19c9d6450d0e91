package io.holdfast.fs.simulate;

import io.holdfast.fs.units.Sizes;
import io.holdfast.policy.simulator.Dataset;

/**
 * The sizes of an invented dataset's files: all alike, or lognormally distributed. Immutable.
 *
 * @param mean in bytes, above 0
 * @param sigma standard deviation of the sizes' natural logarithms; 0 for sizes that are all alike
 */
public record FileSizes(long mean, double sigma) {
  private static final String LOGNORMAL = "lognormal";
  private static final double DEFAULT_SIGMA = 0.5;
  private static final double LARGEST_SIGMA = 5;

  /**
   * Parses sizes: {@code 105000}, {@code 110K}, {@code lognormal:110K}, {@code lognormal:110K:0.7}.
   *
   * @throws IllegalArgumentException if the text is wrong, with one line that names it and says
   *     what is allowed
   */
  public static FileSizes parse(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length == 1) {
      return new FileSizes(mean(text, text), 0);
    }
    if (!parts[0].equals(LOGNORMAL) || parts.length > 3) {
      throw new IllegalArgumentException(
          "'" + text + "' is not known: write a size, such as 110K, or lognormal:MEAN[:SIGMA]");
    }
    double sigma =
        parts.length == 3 ? Numbers.between(parts[2], 0, LARGEST_SIGMA, "sigma") : DEFAULT_SIGMA;
    return new FileSizes(mean(parts[1], text), sigma);
  }

  private static long mean(String size, String text) {
    long mean = Sizes.parse(size);
    if (mean < 1) {
      throw new IllegalArgumentException("'" + text + "' is too small: a file has at least 1 byte");
    }
    return mean;
  }

  /**
   * Returns files of these sizes.
   *
   * @param itemSize bytes; larger files have several items
   * @throws IllegalArgumentException if there are none, or more than can be simulated
   */
  public FileList files(int files, long itemSize, long seed) {
    if (sigma == 0 && mean > itemSize) {
      FileList.Builder builder = new FileList.Builder(itemSize);
      for (int file = 0; file < files; file++) {
        builder.add(mean);
      }
      return builder.build();
    }
    Dataset dataset =
        sigma == 0
            ? Dataset.ofEqualSizes(files, mean)
            : Dataset.ofLognormalSizes(files, mean, sigma, seed);
    return FileList.cut(dataset, itemSize);
  }
}
