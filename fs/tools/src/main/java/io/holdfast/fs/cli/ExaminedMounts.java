package io.holdfast.fs.cli;

import io.holdfast.fs.doctor.MountFinder;
import io.holdfast.fs.doctor.Subject;
import io.holdfast.fs.host.CliException;
import java.util.List;
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

  /** Returns the mount that the user named, or all of them. */
  List<Subject> subjects(MountFinder finder) {
    String wanted = target;
    if (wanted == null) {
      return finder.all();
    }
    return List.of(finder.find(wanted).orElseThrow(() -> unknown(finder, wanted)));
  }

  private static CliException unknown(MountFinder finder, String target) {
    String known =
        finder.all().stream()
            .map(subject -> subject.name() + " (" + subject.mountpoint() + ")")
            .collect(Collectors.joining(", "));
    return CliException.couldNot(
        "'%s' is no Holdfast mount: %s"
            .formatted(target, known.isEmpty() ? "there is none" : "there are " + known));
  }
}
