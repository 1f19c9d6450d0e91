package io.holdfast.fs.doctor;

import java.util.ArrayList;
import java.util.List;

/**
 * Checks whether the mounts of the machine may take more memory together than there is, or than the
 * node has for them.
 */
final class PromisesProbe implements Probe {
  private final MountFinder finder;
  private final MachineFiles files;
  private final Doctor.Budget budget;

  PromisesProbe(MountFinder finder, MachineFiles files, Doctor.Budget budget) {
    this.finder = finder;
    this.files = files;
    this.budget = budget;
  }

  @Override
  public String name() {
    return "mounts";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    List<Finding> findings = new ArrayList<>();
    if (!budget.problem().isEmpty()) {
      findings.add(
          Finding.warn(
              "no mount can join the node's budget: " + budget.problem(), "correct that file"));
    }
    Promises promises = Promises.ask(finder.mounts());
    if (!promises.mounts().isEmpty()) {
      findings.add(ofMachine(promises));
      budget.bytes().ifPresent(bytes -> findings.add(ofBudget(promises, bytes)));
    }
    return findings;
  }

  private Finding ofMachine(Promises promises) {
    long memory = MemoryProbe.total(files);
    String text = promises.text(memory);
    return promises.isTooMuch(memory)
        ? Finding.warn(
            text + ": residents make way for each other",
            "a smaller capacity for each, as 'holdfast capacity NAME 30%'")
        : Finding.ok(text);
  }

  private static Finding ofBudget(Promises promises, long budget) {
    String text = promises.ofBudget(budget);
    return promises.exceeds(budget)
        ? Finding.warn(
            text, "'holdfast allocate --apply', a higher 'memory' in node.yaml, or umount a mount")
        : Finding.ok(text);
  }
}
