package io.holdfast.fs.allocate.node;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.MachineFiles;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.host.UserDirectories;
import io.holdfast.fs.settings.SettingsException;
import io.holdfast.fs.settings.request.NodeFile;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** The machine as {@link Doctor} examines it: its mounts, and the budget of the node. Stateless. */
public final class ExaminedMachine {
  private ExaminedMachine() {}

  /** Returns what there is to examine on a machine. */
  public static Doctor.Machine of(Host host) {
    List<ControlDirectory> controls = new ArrayList<>(List.of(host.control()));
    controls.addAll(host.controlOfOthers());
    return new Doctor.Machine(
        new MachineFiles(Path.of("/")),
        host.uid(),
        host,
        controls,
        host.mounts(),
        UserDirectories.logs(host.uid(), host.environment()),
        UserDirectories.state(host.uid(), host.environment()),
        Clock.systemUTC(),
        budget(host));
  }

  /** Only root can ask all mounts that a budget is for. */
  private static Doctor.Budget budget(Host host) {
    try {
      return host.uid() == 0
          ? new Doctor.Budget(NodeFile.read(host).memory(), "")
          : Doctor.Budget.NONE;
    } catch (CliException | SettingsException e) {
      return new Doctor.Budget(OptionalLong.empty(), String.valueOf(e.getMessage()));
    }
  }
}
