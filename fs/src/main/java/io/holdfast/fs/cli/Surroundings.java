package io.holdfast.fs.cli;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.doctor.Abilities;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.MachineFiles;
import io.holdfast.fs.doctor.MountFinder;
import io.holdfast.fs.doctor.Subject;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Where {@code doctor} and {@code debug} look, and which mounts a user means. Stateless. */
final class Surroundings {
  private static final Path USERS = Path.of("/run/user");

  private Surroundings() {}

  /** Returns where to look on a machine. */
  static Doctor.Surroundings of(Host host) {
    return new Doctor.Surroundings(
        new MachineFiles(Path.of("/")),
        host.uid(),
        new HostAbilities(host),
        controls(host),
        host.mounts(),
        LogPath.directory(host.uid(), host.environment()),
        StateDirectory.of(host.uid(), host.environment()),
        Clock.systemUTC());
  }

  /** Returns the mount that a user named, or all of them. */
  static List<Subject> subjects(MountFinder finder, @Nullable String target) {
    if (target == null) {
      return finder.mounts();
    }
    return List.of(finder.find(target).orElseThrow(() -> unknown(finder, target)));
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

  /** Root may look at the daemons of all users. */
  private static List<ControlDirectory> controls(Host host) {
    List<ControlDirectory> controls = new ArrayList<>(List.of(host.control()));
    if (host.uid() != 0) {
      controls.add(ControlDirectory.ofRoot());
    } else if (Files.isDirectory(USERS)) {
      try (DirectoryStream<Path> users = Files.newDirectoryStream(USERS)) {
        users.forEach(user -> controls.add(ControlDirectory.at(user.resolve("holdfast"))));
      } catch (IOException e) {
        // Nobody has logged in.
      }
    }
    return controls;
  }

  /** A host, asked for what it lets this process do with FUSE. */
  private record HostAbilities(Host host) implements Abilities {
    @Override
    public Device device() {
      return switch (host.device()) {
        case USABLE -> Device.USABLE;
        case MISSING -> Device.MISSING;
        case DENIED -> Device.DENIED;
      };
    }

    @Override
    public boolean mayMount() {
      return host.mayMount();
    }

    @Override
    public boolean hasFusermount() {
      return host.hasFusermount();
    }

    @Override
    public boolean hasLibfuse() {
      return host.hasLibfuse();
    }

    @Override
    public String libfuseInstallation() {
      return host.libfuseInstallation();
    }

    @Override
    public boolean userAllowOther() {
      return host.userAllowOther();
    }
  }
}
