package io.holdfast.fs.doctor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks whether the kernel is new enough, and says what is known of its version. */
final class KernelProbe implements Probe {
  private static final String UPDATE = "update the kernel; see KERNELS.md";

  private final MachineFiles files;

  KernelProbe(MachineFiles files) {
    this.files = files;
  }

  @Override
  public String name() {
    return "kernel";
  }

  @Override
  public List<Finding> run() {
    String release = files.text("proc/sys/kernel/osrelease").orElse("");
    KernelVersion version = KernelVersion.parse(release);
    if (version.major() == 0) {
      return List.of(
          Finding.warn("its version '%s' cannot be read".formatted(release), "mount /proc"));
    }
    if (!version.isAtLeast(5, 6)) {
      return List.of(
          Finding.fail(
              "Linux "
                  + release
                  + " is too old: it lacks openat2, and paths could not be kept"
                  + " inside the dataset",
              "update to Linux 5.6 or later"));
    }
    List<Finding> findings = new ArrayList<>();
    findings.add(Finding.ok("Linux " + release + lacks(version)));
    findings.addAll(knownBugs(version));
    return findings;
  }

  private static String lacks(KernelVersion version) {
    List<String> lacks = new ArrayList<>();
    if (!version.isAtLeast(5, 14)) {
      lacks.add("filling a mapping without locking it (5.14)");
    }
    if (!version.isAtLeast(6, 5)) {
      lacks.add("telling what is cached (6.5): more is fetched after a restart");
    }
    if (!version.isAtLeast(6, 9)) {
      lacks.add(
          "sending again what a killed daemon has not answered (6.9): kept in a file instead");
    }
    return lacks.isEmpty() ? "" : "; lacks " + String.join(", ", lacks);
  }

  private static List<Finding> knownBugs(KernelVersion version) {
    List<Finding> bugs = new ArrayList<>();
    if (version.isAtLeast(6, 9) && !version.isAtLeast(6, 13)) {
      bugs.add(
          Finding.warn(
              "known bug of 6.9 to 6.12: listings that the kernel remembers may outlive"
                  + " --metadata-ttl, so new files may not be listed",
              UPDATE + "; until then 'holdfast refresh MOUNTPOINT' after changes"));
    }
    if (version.isAtLeast(6, 18)) {
      bugs.add(
          Finding.ok(
              "known of 6.18: a name that several threads look up first at once may lose its"
                  + " pages, and is fetched once more; nothing to be done"));
    }
    return bugs;
  }

  /**
   * The first two numbers of a kernel's version. Immutable.
   *
   * @param major such as the 6 of 6.18
   * @param minor such as the 18 of 6.18
   */
  private record KernelVersion(int major, int minor) implements Comparable<KernelVersion> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,5})\\.(\\d{1,5}).*");
    private static final Comparator<KernelVersion> ORDER =
        Comparator.comparingInt(KernelVersion::major).thenComparingInt(KernelVersion::minor);

    /** Parses a release such as {@code 6.18.44-generic}; returns 0.0 if that fails. */
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
}
