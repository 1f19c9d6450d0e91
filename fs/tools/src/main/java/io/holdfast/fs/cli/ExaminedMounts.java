package io.holdfast.fs.cli;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.MachineFiles;
import io.holdfast.fs.doctor.MountFinder;
import io.holdfast.fs.doctor.Subject;
import io.holdfast.fs.settings.SettingsException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/** The argument of {@code doctor} and {@code debug}: all mounts, unless the user names one. */
final class ExaminedMounts {
  @Parameters(
      arity = "0..1",
      paramLabel = "MOUNTPOINT|NAME",
      description = "Which mount. Default: all of them.")
  private @Nullable String target;

  /** Returns what there is to examine on a machine. */
  static Doctor.Machine machine(Host host) {
    List<ControlDirectory> controls = new ArrayList<>(List.of(host.control()));
    controls.addAll(host.controlOfOthers());
    return new Doctor.Machine(
        new MachineFiles(Path.of("/")),
        host.uid(),
        host,
        controls,
        host.mounts(),
        LogPath.directory(host.uid(), host.environment()),
        StateDirectory.of(host.uid(), host.environment()),
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

  /** Returns the mount that the user named, or all of them. */
  List<Subject> subjects(MountFinder finder) {
    String wanted = target;
    if (wanted == null) {
      return finder.mounts();
    }
    return List.of(finder.find(wanted).orElseThrow(() -> unknown(finder, wanted)));
  }

  private static CliException unknown(MountFinder finder, String target) {
    String known =
        finder.mounts().stream()
            .map(subject -> subject.name() + " (" + subject.mountpoint() + ")")
            .collect(Collectors.joining(", "));
    return CliException.couldNot(
        "'%s' is no Holdfast mount: %s"
            .formatted(target, known.isEmpty() ? "there is none" : "there are " + known));
  }
}
