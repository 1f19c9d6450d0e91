package io.holdfast.fs.daemon;

/** The version of this program. */
public final class Version {
  /** The version that the build wrote into the jar, or {@code development} outside of one. */
  public static final String VERSION = read();

  private Version() {}

  private static String read() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
