package io.holdfast.fs.allocate;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The settings of a node for its mounts. Immutable.
 *
 * @param memory bytes for all of them together; empty where nothing is said
 * @param mounts by name
 */
public record NodeSettings(OptionalLong memory, Map<String, Bounds> mounts) {
  /** Says nothing. */
  public static final NodeSettings NONE = new NodeSettings(OptionalLong.empty(), Map.of());

  private static final String MEMORY = "memory";
  private static final String MOUNTS = "mounts";
  static final String FLOOR = "capacity-min";
  static final String CEILING = "capacity-max";
  private static final String WEIGHT = "weight";
  private static final String ORIGIN = "origin";

  /** Takes over the bounds. */
  public NodeSettings {
    mounts = Map.copyOf(mounts);
  }

  /**
   * Reads them.
   *
   * @param yaml an object, whose sizes are texts as people write them
   * @param machine bytes that {@code 100%} stands for
   * @throws IllegalArgumentException with one line that names the key and says what to do
   */
  public static NodeSettings read(Map<?, ?> yaml, long machine) {
    PlanObject node = new PlanObject("", yaml);
    node.requireKnown(List.of(MEMORY, MOUNTS));
    OptionalLong memory =
        node.has(MEMORY) ? OptionalLong.of(node.size(MEMORY, 1, machine)) : OptionalLong.empty();
    Map<String, Bounds> mounts = new HashMap<>();
    if (node.has(MOUNTS)) {
      for (Map.Entry<?, ?> entry : node.object(MOUNTS, "names of mounts").entrySet()) {
        String name = String.valueOf(entry.getKey());
        Bounds bounds =
            bounds(PlanObject.of(MOUNTS + "." + name, "mount", entry.getValue()), machine);
        if (mounts.put(name, bounds) != null) {
          throw new IllegalArgumentException(
              "%s.%s is there twice: once as a number, and once as a text".formatted(MOUNTS, name));
        }
      }
    }
    return new NodeSettings(memory, mounts);
  }

  private static Bounds bounds(PlanObject mount, long machine) {
    mount.requireKnown(List.of(FLOOR, CEILING, WEIGHT, ORIGIN));
    long least = mount.has(FLOOR) ? mount.size(FLOOR, 0, machine) : 0;
    long most = mount.has(CEILING) ? mount.size(CEILING, 1, machine) : Long.MAX_VALUE;
    if (most < least) {
      throw mount.wrong(CEILING, "must not be less than " + FLOOR + ": raise it");
    }
    return new Bounds(
        least,
        most,
        mount.whole(WEIGHT, 1, PlanReader.MOST_WEIGHT, 1),
        mount.has(ORIGIN) ? mount.text(ORIGIN) : null);
  }

  /** Returns the same without the memory for all mounts. */
  public NodeSettings withoutMemory() {
    return new NodeSettings(OptionalLong.empty(), mounts);
  }

  /** Returns the bounds of a mount. */
  public Bounds of(String mount) {
    return mounts.getOrDefault(mount, Bounds.NONE);
  }
}
