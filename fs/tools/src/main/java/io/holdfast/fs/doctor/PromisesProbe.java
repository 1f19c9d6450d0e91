package io.holdfast.fs.doctor;

import java.util.List;

/** Checks whether the mounts of the machine may take more memory together than there is. */
final class PromisesProbe implements Probe {
  private final MountFinder finder;
  private final MachineFiles files;

  PromisesProbe(MountFinder finder, MachineFiles files) {
    this.finder = finder;
    this.files = files;
  }

  @Override
  public String name() {
    return "mounts";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    Promises promises = Promises.ask(finder.mounts());
    if (promises.mounts().isEmpty()) {
      return List.of();
    }
    long memory = MemoryProbe.total(files);
    String text = promises.text(memory);
    return List.of(
        promises.isTooMuch(memory)
            ? Finding.warn(
                text + ": residents make way for each other",
                "a smaller capacity for each, as 'holdfast capacity NAME 30%'")
            : Finding.ok(text));
  }
}
