package io.holdfast.fs.debug;

import io.holdfast.fs.doctor.MachineFiles;
import java.io.IOException;
import java.util.List;

/** Several files of the kernel in one text. Stateless. */
final class KernelFilesText {
  private KernelFilesText() {}

  /**
   * Returns files one after the other, each below its name. For a missing file, the text says why.
   */
  static String all(MachineFiles files, List<String> names) {
    StringBuilder text = new StringBuilder();
    for (String name : names) {
      text.append("== /").append(name).append('\n').append(content(files, name)).append('\n');
    }
    return text.toString();
  }

  /** Returns files of one line each, as lines of name and content. */
  static String lines(MachineFiles files, List<String> names) {
    StringBuilder text = new StringBuilder();
    for (String name : names) {
      text.append('/').append(name).append("  ").append(content(files, name).strip()).append('\n');
    }
    return text.toString();
  }

  private static String content(MachineFiles files, String name) {
    try {
      return files.read(name);
    } catch (IOException e) {
      return "missing: " + e.getClass().getSimpleName() + "\n";
    }
  }
}
