package io.holdfast.fs.doctor;

import io.holdfast.fs.units.Human;
import java.util.List;

/** Checks the virtual machine that runs this command, and would run a daemon. */
final class JavaProbe implements Probe {
  private static final int OLDEST = 17;

  private final int feature;
  private final String version;
  private final long heap;

  JavaProbe() {
    this(
        Runtime.version().feature(),
        System.getProperty("java.version", "?") + " of " + System.getProperty("java.vendor", "?"),
        Runtime.getRuntime().maxMemory());
  }

  JavaProbe(int feature, String version, long heap) {
    this.feature = feature;
    this.version = version;
    this.heap = heap;
  }

  @Override
  public String name() {
    return "java";
  }

  @Override
  public List<Finding> run() {
    return List.of(
        feature < OLDEST
            ? Finding.fail("Java " + version + " is too old", "set JAVA_HOME to a Java 17 or newer")
            : Finding.ok("Java " + version + ", heap " + Human.bytes(heap)));
  }
}
