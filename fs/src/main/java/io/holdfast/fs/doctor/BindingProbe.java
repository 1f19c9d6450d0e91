package io.holdfast.fs.doctor;

import java.util.ArrayList;
import java.util.List;

/** Which bindings are possible here, and what a user without root needs. */
final class BindingProbe implements Probe {
  private final int uid;
  private final Abilities abilities;

  BindingProbe(int uid, Abilities abilities) {
    this.uid = uid;
    this.abilities = abilities;
  }

  @Override
  public String name() {
    return "bindings";
  }

  @Override
  public List<Finding> run() {
    boolean library = abilities.hasLibfuse();
    boolean helper = abilities.hasFusermount();
    if (uid == 0) {
      return asRoot(library);
    }
    List<Finding> findings = new ArrayList<>();
    if (!library) {
      findings.add(
          Finding.fail(
              "libfuse 2 (libfuse.so.2) is missing, which users other than root need",
              abilities.libfuseInstallation()));
    }
    if (!helper) {
      findings.add(
          Finding.fail(
              "fusermount is missing, which users other than root need",
              "install the package fuse3 (fusermount)"));
    }
    if (findings.isEmpty()) {
      findings.add(
          Finding.ok(
              "jnr-fuse is possible (libfuse 2 and fusermount are there); kernel needs root"));
    }
    if (!abilities.userAllowOther()) {
      findings.add(
          Finding.warn(
              "--allow-other is not permitted to users, so nobody else can read a mount of yours",
              "write 'user_allow_other' into /etc/fuse.conf"));
    }
    return findings;
  }

  private List<Finding> asRoot(boolean library) {
    if (!abilities.mayMount()) {
      return List.of(
          Finding.fail(
              "root lacks CAP_SYS_ADMIN here and may not mount",
              "start the container with '--cap-add SYS_ADMIN'"));
    }
    return List.of(
        Finding.ok(
            library
                ? "kernel and jnr-fuse are possible"
                : "kernel is possible; jnr-fuse is not, since libfuse 2 is missing"));
  }
}
