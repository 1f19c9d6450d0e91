package io.holdfast.fs.doctor;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The first two numbers of a kernel's version. Immutable.
 *
 * @param major as the 6 of 6.18
 * @param minor as the 18 of 6.18
 */
record KernelVersion(int major, int minor) implements Comparable<KernelVersion> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,5})\\.(\\d{1,5}).*");
  private static final Comparator<KernelVersion> ORDER =
      Comparator.comparingInt(KernelVersion::major).thenComparingInt(KernelVersion::minor);

  /** Reads a release such as {@code 6.18.44-generic}; one that cannot be read is 0.0. */
  static KernelVersion parse(String release) {
    Matcher match = FORM.matcher(release);
    return match.matches()
        ? new KernelVersion(Integer.parseInt(match.group(1)), Integer.parseInt(match.group(2)))
        : new KernelVersion(0, 0);
  }

  boolean isAtLeast(int otherMajor, int otherMinor) {
    return compareTo(new KernelVersion(otherMajor, otherMinor)) >= 0;
  }

  @Override
  public int compareTo(KernelVersion other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
