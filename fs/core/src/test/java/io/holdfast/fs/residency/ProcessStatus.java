package io.holdfast.fs.residency;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The kernel's figures of this process. */
final class ProcessStatus {
  private ProcessStatus() {}

  /** Returns the bytes that are locked. */
  static long lockedBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmLck:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
      }
    }
    throw new IOException("no VmLck");
  }

  /** Returns how many mappings of files at or below a path there are. */
  static long mappings(Path below) throws IOException {
    try (java.util.stream.Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(below.toString())).count();
    }
  }
}
