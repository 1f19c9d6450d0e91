package io.holdfast.fs.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks which bindings are possible here, and what users other than root need. */
final class BindingProbe implements Probe {
  private static final String FOR_USERS =
      "jnr-fuse is possible (libfuse 2 and fusermount are there); kernel needs root";

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
    MountRequirements requirements = new MountRequirements(uid, abilities);
    Optional<Finding> library = requirements.library();
    Stream<Optional<Finding>> failures =
        uid == 0
            ? Stream.of(requirements.permission(false))
            : Stream.of(library, requirements.permission(true));
    List<Finding> findings = new ArrayList<>(failures.flatMap(Optional::stream).toList());
    if (findings.isEmpty()) {
      findings.add(Finding.ok(uid == 0 ? forRoot(library.isEmpty()) : FOR_USERS));
    }
    requirements.allowOther().ifPresent(findings::add);
    return findings;
  }

  private static String forRoot(boolean library) {
    return library
        ? "kernel and jnr-fuse are possible"
        : "kernel is possible; jnr-fuse is not, since libfuse 2 is missing";
  }
}
