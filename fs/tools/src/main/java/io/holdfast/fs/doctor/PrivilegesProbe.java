package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.Procfs;
import java.util.ArrayList;
import java.util.List;

/** Checks the capabilities and resource limits that this user's daemons will need. */
final class PrivilegesProbe implements Probe {
  private static final int CAP_SYS_ADMIN = 21;
  private static final int CAP_IPC_LOCK = 14;
  private static final long FEWEST_FILES = 4096;

  /** The least limit of locked memory that somebody may have set on purpose. */
  private static final long LEAST_LOCKED = 1L << 30;

  private final MachineFiles files;
  private final int uid;

  PrivilegesProbe(MachineFiles files, int uid) {
    this.files = files;
    this.uid = uid;
  }

  @Override
  public String name() {
    return "privileges";
  }

  @Override
  public List<Finding> run() {
    List<Finding> findings = new ArrayList<>();
    boolean mayLock = has(CAP_IPC_LOCK);
    findings.add(
        Finding.ok(
            "user %d, %s CAP_SYS_ADMIN, %s CAP_IPC_LOCK"
                .formatted(
                    uid, has(CAP_SYS_ADMIN) ? "with" : "without", mayLock ? "with" : "without")));
    long locked = hardLimit("Max locked memory");
    if (!mayLock && locked < LEAST_LOCKED) {
      findings.add(
          Finding.warn(
              "only %d bytes of memory may be locked: residents are not pinned for sure"
                  .formatted(locked),
              "'ulimit -l unlimited', LimitMEMLOCK=infinity in the unit, or run as root"));
    }
    long open = hardLimit("Max open files");
    if (open < FEWEST_FILES) {
      findings.add(
          Finding.warn(
              "only %d files may be open: peers and fetches need more".formatted(open),
              "'ulimit -Hn 65536', or LimitNOFILE=65536 in the unit"));
    }
    return findings;
  }

  private boolean has(int capability) {
    return files.procfs().hasCapability(capability, false);
  }

  private long hardLimit(String what) {
    return files.procfs().limit(Procfs.SELF, what).map(Procfs.Limit::hard).orElse(Long.MAX_VALUE);
  }
}
