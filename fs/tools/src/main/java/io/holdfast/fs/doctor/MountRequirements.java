package io.holdfast.fs.doctor;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a user needs to mount on a machine. {@code holdfast mount} asks for the first obstacle
 * before it begins, the doctor's probes for all of them. Immutable.
 */
public final class MountRequirements {
  private final int uid;
  private final Abilities abilities;

  /**
   * Prepares to ask.
   *
   * @param uid the user that wants to mount
   * @param abilities what this process may do
   */
  public MountRequirements(int uid, Abilities abilities) {
    this.uid = uid;
    this.abilities = abilities;
  }

  /**
   * Returns the first thing that is in the way of a mount; nothing where there is none.
   *
   * @param library whether the mount uses libfuse, and not the kernel binding
   * @param allowOther whether other users are to read the mount
   */
  public Optional<Finding> obstacle(boolean library, boolean allowOther) {
    Stream<Optional<Finding>> all =
        Stream.of(
            device(),
            library ? library() : Optional.empty(),
            permission(library),
            allowOther ? allowOther() : Optional.empty());
    return all.flatMap(Optional::stream).findFirst();
  }

  /** Returns what is wrong with the FUSE device. */
  Optional<Finding> device() {
    return switch (abilities.device()) {
      case MISSING ->
          Optional.of(
              Finding.fail(
                  "/dev/fuse is missing",
                  "load it with 'modprobe fuse', or start the container with"
                      + " '--device /dev/fuse'"));
      case DENIED ->
          Optional.of(
              Finding.fail(
                  "not permitted to open /dev/fuse as user " + uid,
                  "run as root, or start the container with '--device /dev/fuse --cap-add"
                      + " SYS_ADMIN'"));
      case USABLE -> Optional.empty();
    };
  }

  /** Returns what the binding jnr-fuse lacks. */
  Optional<Finding> library() {
    return abilities.hasLibfuse()
        ? Optional.empty()
        : Optional.of(
            Finding.fail(
                "libfuse 2 (libfuse.so.2) is missing",
                "install it with " + abilities.libfuseInstallation()));
  }

  /**
   * Returns why this user may not mount.
   *
   * @param library whether the mount uses libfuse, which mounts for users through a helper
   */
  Optional<Finding> permission(boolean library) {
    if (uid == 0) {
      return abilities.mayMount()
          ? Optional.empty()
          : Optional.of(
              Finding.fail(
                  "not permitted to mount: root lacks CAP_SYS_ADMIN here",
                  "start the container with '--cap-add SYS_ADMIN'"));
    }
    if (!library) {
      return Optional.of(
          Finding.fail(
              "--binding kernel is not permitted to user " + uid,
              "run as root, or use --binding jnr-fuse"));
    }
    return abilities.hasFusermount()
        ? Optional.empty()
        : Optional.of(
            Finding.fail(
                "not permitted to mount as user %d: fusermount is missing".formatted(uid),
                "run as root, or install the package fuse3 (fusermount)"));
  }

  /** Returns why other users cannot read a mount of this user. */
  Optional<Finding> allowOther() {
    return uid == 0 || abilities.userAllowOther()
        ? Optional.empty()
        : Optional.of(
            Finding.warn(
                "--allow-other is not permitted to users",
                "write 'user_allow_other' into /etc/fuse.conf, or leave the option out"));
  }
}
