package io.holdfast.fs.doctor;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * The requirements of a mount by a user on a machine. {@code holdfast mount} asks for the first
 * obstacle before it begins, and the doctor's probes ask for all of them. Immutable.
 */
public final class MountRequirements {
  private final int uid;
  private final Abilities abilities;

  /**
   * Creates the requirements for a user.
   *
   * @param uid the user that wants to mount
   * @param abilities the rights of this process
   */
  public MountRequirements(int uid, Abilities abilities) {
    this.uid = uid;
    this.abilities = abilities;
  }

  /**
   * Returns the first obstacle to a mount; nothing if there is none.
   *
   * @param library whether the mount uses libfuse, and not the kernel binding
   * @param allowOther whether other users shall read the mount
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

  /** Returns the problem with the FUSE device, if there is one. */
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

  /** Returns what the jnr-fuse binding lacks, if anything. */
  Optional<Finding> library() {
    return abilities.hasLibfuse()
        ? Optional.empty()
        : Optional.of(
            Finding.fail(
                "libfuse 2 (libfuse.so.2) is missing",
                "install it with " + abilities.libfuseInstallation()));
  }

  /**
   * Returns why this user may not mount, if so.
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

  /** Returns why other users cannot read a mount of this user, if so. */
  Optional<Finding> allowOther() {
    return uid == 0 || abilities.userAllowOther()
        ? Optional.empty()
        : Optional.of(
            Finding.warn(
                "--allow-other is not permitted to users",
                "write 'user_allow_other' into /etc/fuse.conf, or leave the option out"));
  }
}
