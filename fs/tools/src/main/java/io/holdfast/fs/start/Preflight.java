package io.holdfast.fs.start;

import io.holdfast.fs.checkpoint.daemon.StorePlace;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.doctor.MountRequirements;
import io.holdfast.fs.doctor.SourceMount;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.host.UserDirectories;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.settings.BindingChoice;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds out before a mount what is in its way, and says it in one line. Changes nothing on the
 * machine, but for one thing: a Holdfast mount at the mountpoint whose daemon died is taken away.
 * Not thread-safe; for one use.
 */
public final class Preflight {
  /** So many dead mounts may lie on top of each other. */
  private static final int DEEPEST_STACK = 16;

  private static final int WRITABLE_FOR_OTHERS = 0022;
  private static final int STICKY = 01000;

  /**
   * What the check has found out.
   *
   * @param origin where the dataset is, without symlinks
   * @param mountpoint without symlinks
   * @param notes lines for the user and the log
   */
  public record Result(Source origin, Path mountpoint, List<String> notes) {}

  private final Host host;
  private final List<String> notes = new ArrayList<>();

  public Preflight(Host host) {
    this.host = host;
  }

  /**
   * Checks the two places, and clears the mountpoint of a dead mount of ours. What is in S3 is not
   * asked for: that is the daemon's first step.
   *
   * @param source as the user gave it, made absolute
   * @param mountpoint the same; may be the source
   * @throws CliException when they cannot be used
   */
  public Result checkPaths(Source source, Path mountpoint) {
    Path directory = source instanceof Source.Directory of ? of.path() : null;
    Path located = host.locate(mountpoint);
    clearMountpoint(located, directory != null && located.equals(host.locate(directory)));
    Path origin = directory == null ? null : readable(directory);
    checkDirectory("mountpoint", mountpoint, "create it with 'mkdir -p'");
    Path real = realPath("mountpoint", mountpoint);
    SystemPlaces.checkMountpoint(host.mounts(), real, real.equals(origin));
    if (origin == null) {
      return new Result(source, real, List.copyOf(notes));
    }
    checkRelation(origin, real);
    if (host.isEmpty(origin)) {
      notes.add(
          "the source '%s' is empty: %s"
              .formatted(origin, SourceMount.whyEmpty(origin, host.mounts(), host.fstab())));
    }
    return new Result(new Source.Directory(origin), real, List.copyOf(notes));
  }

  /**
   * The places of a checkpoint mount as the check has found them, without symlinks.
   *
   * @param notes lines for the user
   */
  public record Checkpoint(StorePlace store, Path mountpoint, List<String> notes) {}

  /**
   * Checks the places of a checkpoint mount, and clears the mountpoint of a dead mount of ours. A
   * bucket is not asked for: that is the daemon's first step.
   *
   * @throws CliException when they cannot be used
   */
  public Checkpoint checkCheckpoint(StorePlace store, Path mountpoint) {
    if (host.uid() != 0) {
      throw CliException.couldNot("a checkpoint mount keeps the owners of files: run it as root");
    }
    Path located = host.locate(mountpoint);
    clearMountpoint(located, false);
    if (store instanceof StorePlace.Directory directory) {
      checkMounted("store", host.locate(directory.path())); // before a user is told to create it
      checkDirectory("store", directory.path(), "create it with 'mkdir -p'");
    }
    checkDirectory("mountpoint", mountpoint, "create it with 'mkdir -p'");
    Path real = realPath("mountpoint", mountpoint);
    StorePlace realStore =
        store instanceof StorePlace.Directory directory
            ? new StorePlace.Directory(checkedStore(directory.path(), real))
            : store;
    SystemPlaces.checkMountpoint(host.mounts(), real, false);
    List<Path> own = new ArrayList<>(host.ownDirectories());
    own.add(UserDirectories.logs(host.uid(), host.environment()));
    own.add(host.control().path());
    for (Path path : own) {
      checkApart("a directory that Holdfast itself needs,", host.locate(path), real);
    }
    return new Checkpoint(realStore, real, List.copyOf(notes));
  }

  /** A mountpoint without its mount is a directory of the machine's own disk. */
  private void checkMounted(String what, Path path) {
    host.fstab()
        .unmounted(path, false, host.mounts())
        .ifPresent(
            mountpoint -> {
              throw CliException.couldNot(
                  "%s '%s' is not mounted: '%s' is in /etc/fstab and is not mounted: mount it first"
                      .formatted(what, path, mountpoint));
            });
  }

  /** Checks the directory that keeps checkpoints, and returns it without symlinks. */
  private Path checkedStore(Path store, Path mountpoint) {
    Path real = realPath("store", store);
    if (host.mounts().covering(real).filter(MountTable.Mount::isHoldfast).isPresent()) {
      throw CliException.usage(
          "store '%s' is on a Holdfast mount: give a directory of its own file system"
              .formatted(real));
    }
    SystemPlaces.checkData(
        host.mounts(), "store", real, "give the directory that keeps checkpoints");
    checkApart("store", real, mountpoint);
    if (othersMayRename(real)) {
      notes.add(
          "others may rename files in the store '%s' itself, besides the mount: 'chmod +t' it, or close the way to it"
              .formatted(real));
    }
    return real;
  }

  private static boolean othersMayRename(Path directory) {
    try {
      int mode = (Integer) Files.getAttribute(directory, "unix:mode");
      return (mode & WRITABLE_FOR_OTHERS) != 0 && (mode & STICKY) == 0;
    } catch (IOException e) {
      return false; // the daemon finds out what it cannot do
    }
  }

  /** Checks that the front of a checkpoint mount is apart from its other places. */
  public void checkFront(Path front, StorePlace store, Path mountpoint) {
    checkMounted("front", front);
    checkApart("front", front, mountpoint);
    if (store instanceof StorePlace.Directory directory
        && (SystemPlaces.isBelow(front, directory.path())
            || SystemPlaces.isBelow(directory.path(), front))) {
      throw CliException.usage(
          "front '%s' and store '%s' are in one another: choose another with --front"
              .formatted(front, store));
    }
    SystemPlaces.checkData(host.mounts(), "front", front, "choose another with --front");
  }

  private static void checkApart(String what, Path path, Path mountpoint) {
    if (SystemPlaces.isBelow(path, mountpoint)) {
      throw CliException.usage(
          "%s '%s' would be hidden by the mount at '%s': choose another mountpoint"
              .formatted(what, path, mountpoint));
    }
  }

  private Path readable(Path source) {
    checkDirectory("source", source, "check the path");
    if (!host.canRead(source)) {
      throw denied("source", source);
    }
    Path real = realPath("source", source);
    SystemPlaces.checkData(host.mounts(), "source", real, "give the dataset's directory");
    return real;
  }

  /**
   * Checks the rest: the name, the machine, and what this user may do on it.
   *
   * @param settings with the paths that {@link #checkPaths} returned
   * @throws CliException when the mount cannot work
   */
  public void checkMachine(Settings settings) {
    checkOwnFiles(settings);
    settings
        .find(SettingTable.STATE_DIR)
        .ifPresent(
            path ->
                SystemPlaces.checkData(
                    host.mounts(),
                    "--state-dir",
                    host.locate(path),
                    "give a directory on a disk, or none"));
    checkSourceMounted(settings);
    checkName(settings.get(SettingTable.NAME));
    boolean library = settings.get(SettingTable.BINDING) == BindingChoice.JNR_FUSE;
    new MountRequirements(host.uid(), host)
        .obstacle(library, settings.get(SettingTable.ALLOW_OTHER))
        .ifPresent(
            found -> {
              throw CliException.couldNot(found.text() + ": " + found.fix());
            });
    if (!host.canWrite(settings.get(SettingTable.MOUNTPOINT)) && host.uid() != 0) {
      throw CliException.couldNot(
          "not permitted to mount on '%s' as user %d: choose a directory that you may write to"
              .formatted(settings.get(SettingTable.MOUNTPOINT), host.uid()));
    }
  }

  public void checkName(String name) {
    Optional<RunningDaemon> other = host.control().running(name);
    if (other.isPresent()) {
      throw CliException.couldNot(
          "the name '"
              + name
              + "' is in use by the mount at "
              + other.get().mountpoint()
              + ": choose another one with --name");
    }
    if (SupervisedMount.isSupervised(host.control().stateDirectory(name))) {
      throw CliException.couldNot(
          "the name '"
              + name
              + "' is in use by a mount whose daemon is being started again: choose another one"
              + " with --name");
    }
  }

  private void clearMountpoint(Path mountpoint, boolean overItself) {
    for (int i = 0; i < DEEPEST_STACK; i++) {
      Optional<MountTable.Mount> top =
          host.mounts().at(mountpoint).filter(MountTable.Mount::isFuse);
      if (top.isEmpty() || !clear(mountpoint, top.get(), overItself)) {
        return;
      }
    }
    throw CliException.couldNot(
        "mountpoint '"
            + mountpoint
            + "' has too many dead mounts: take them away with 'umount -l'");
  }

  /** Takes a dead mount of ours away; tells whether there may be another below. */
  private boolean clear(Path mountpoint, MountTable.Mount mount, boolean overItself) {
    Host.PathState state =
        mount.isHoldfast() && DaemonState.hasDied(host.control(), mountpoint)
            ? Host.PathState.NOT_CONNECTED
            : host.probe(mountpoint);
    if (!mount.isHoldfast()) {
      if (state == Host.PathState.NOT_CONNECTED) {
        throw CliException.couldNot(
            "mountpoint '%s' has a dead mount of type %s: take it away with 'umount -l %s'"
                .formatted(mountpoint, mount.type(), mountpoint));
      }
      if (overItself) {
        return false;
      }
      throw CliException.couldNot(
          "mountpoint '%s' is busy: %s is mounted there (type %s): unmount it, or choose another"
              .formatted(mountpoint, mount.source(), mount.type()));
    }
    switch (state) {
      case NOT_CONNECTED -> {
        detach(mountpoint);
        notes.add("took away a stale mount at " + mountpoint + ", whose daemon had died");
        return true;
      }
      case HUNG ->
          throw CliException.couldNot(
              "mountpoint '%s' is a Holdfast mount that does not answer: end it with 'holdfast umount --force %s'"
                  .formatted(mountpoint, mountpoint));
      default ->
          throw CliException.couldNot(
              "mountpoint '%s' is already a Holdfast mount (of %s): end it with 'holdfast umount %s'"
                  .formatted(mountpoint, mount.source(), mountpoint));
    }
  }

  private void detach(Path mountpoint) {
    try {
      host.detach(mountpoint);
      Optional<String> dead = host.control().leftoverOf(mountpoint);
      if (dead.isPresent()) {
        host.control().removeLeftovers(dead.get());
      }
    } catch (IOException e) {
      throw CliException.couldNot(
          "the stale mount at '%s' cannot be taken away (%s): try 'umount -l %s' as root"
              .formatted(mountpoint, e.getMessage(), mountpoint),
          e);
    }
  }

  private void checkDirectory(String what, Path path, String whenMissing) {
    switch (host.probe(path)) {
      case DIRECTORY -> {}
      case MISSING ->
          throw CliException.usage("%s '%s' does not exist: %s".formatted(what, path, whenMissing));
      case OTHER ->
          throw CliException.usage(
              "%s '%s' is not a directory: give a directory".formatted(what, path));
      case DENIED -> throw denied(what, path);
      case NOT_CONNECTED ->
          throw CliException.couldNot(
              "%s '%s' is on a mount whose daemon is gone: repair that mount first"
                  .formatted(what, path));
      case HUNG ->
          throw CliException.couldNot(
              "%s '%s' does not answer: check the storage or mount that it is on"
                  .formatted(what, path));
      case FAILED ->
          throw CliException.couldNot(
              "%s '%s' cannot be examined: check it with 'stat'".formatted(what, path));
    }
  }

  private CliException denied(String what, Path path) {
    return CliException.usage(
        "%s '%s' cannot be read by user %d: change its permissions, or run as another user"
            .formatted(what, path, host.uid()));
  }

  private Path realPath(String what, Path path) {
    try {
      return host.realPath(path);
    } catch (IOException e) {
      throw CliException.couldNot(
          "%s '%s' cannot be resolved: %s".formatted(what, path, e.getMessage()), e);
    }
  }

  private static void checkRelation(Path origin, Path mountpoint) {
    if (origin.equals(mountpoint)) {
      return;
    }
    if (mountpoint.startsWith(origin)) {
      throw CliException.usage(
          "mountpoint '%s' is inside the source '%s': choose one outside, or mount over the source"
                  .formatted(mountpoint, origin)
              + " itself");
    }
    if (origin.startsWith(mountpoint)) {
      throw CliException.usage(
          "source '%s' is inside the mountpoint '%s', which would hide it: choose another mountpoint"
              .formatted(origin, mountpoint));
    }
  }

  /** The daemon would wait for itself if its own files were behind its mount. */
  private void checkOwnFiles(Settings settings) {
    List<Path> own = new ArrayList<>(host.ownDirectories());
    own.add(LogPath.of(settings, host.uid(), host.environment()));
    own.add(host.control().path());
    own.addAll(settings.ownFiles());
    for (Path path : own) {
      // the first daemon opens some before it mounts; the next one finds its own mount there
      if (SystemPlaces.isBelow(host.locate(path), settings.get(SettingTable.MOUNTPOINT))) {
        throw CliException.usage(
            "mountpoint '%s' holds '%s', which Holdfast itself needs: choose another"
                .formatted(settings.get(SettingTable.MOUNTPOINT), path));
      }
    }
  }

  private void checkSourceMounted(Settings settings) {
    if (!settings.get(SettingTable.REQUIRE_MOUNT)
        || !(settings.get(SettingTable.SOURCE) instanceof Source.Directory source)) {
      return;
    }
    Path path = source.path();
    SourceMount.missing(path, host.isEmpty(path), host.mounts(), host.fstab())
        .ifPresent(
            why -> {
              throw CliException.couldNot(
                  "source '%s' is not mounted (--require-mount): %s: mount its file system first"
                      .formatted(source, why));
            });
  }
}
