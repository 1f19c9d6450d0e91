package io.holdfast.it;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Local users attack mounts: other users see no more of a tree, while all of it is changed, than
 * the origin permits. The attack is {@code packaging/e2e/attack/attack.py}, and {@code
 * packaging/e2e/attack/run} does it for long, with other seeds.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Order(1)
class AttackIT {
  private static final Path ATTACK = Path.of("e2e/attack/attack.py").toAbsolutePath();
  private static final int SEED = 20;

  /** With each binding. */
  private static final int SECONDS = 10;

  private static final Duration DEADLINE = Duration.ofMinutes(3);
  private static final boolean KERNEL = System.getProperty("holdfast.binding", "").equals("kernel");

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /**
   * One mount believes names for a second, the other for an hour, and is refreshed all the time.
   */
  @Test
  void otherUsers_whileAllIsChanged_seeNoMoreThanTheOriginPermits() {
    Child believing = attack("tmpfs", sandbox.tmpfs("tmpfs"), false);
    Child refreshed = attack("ext4", ext4(), true);
    for (Child attack : List.of(believing, refreshed)) {
      System.out.println(attack.await(DEADLINE).mustSucceed().out());
    }
  }

  private Child attack(String label, Path files, boolean refreshed) {
    // libfuse 2 cannot have the kernel decide by ACLs: modes are stricter there
    boolean exact = KERNEL && !refreshed;
    sandbox.command("mkdir", files.resolve("data").toString()).mustSucceed();
    Mount mount =
        sandbox.mount(
            files.resolve("data"),
            "--capacity",
            "256M",
            "--transit",
            "64M",
            "--item-size",
            "1M",
            "--metadata-ttl",
            refreshed ? "1h" : "1s",
            "--acl",
            exact ? "kernel" : "strict");
    List<String> command = new ArrayList<>(List.of("python3", "-B", ATTACK.toString()));
    command.addAll(List.of("--seed", Integer.toString(SEED)));
    command.addAll(List.of("--seconds", Integer.toString(SECONDS)));
    if (refreshed) {
      command.addAll(List.of("--refresh", mount.name()));
    }
    if (!exact) {
      command.addAll(List.of("--lists", "stricter"));
    }
    if (!KERNEL) {
      command.addAll(List.of("--binding", "jnr-fuse"));
    }
    command.addAll(List.of(label, files.toString(), mount.mountpoint().toString()));
    return sandbox.start(Map.of(), command);
  }

  private Path ext4() {
    Path image = sandbox.tmpfs("disk").resolve("image");
    Path root = sandbox.folder("ext4");
    sandbox.command("truncate", "--size=1G", image.toString()).mustSucceed();
    sandbox.command("mkfs.ext4", "-q", "-F", image.toString()).mustSucceed();
    sandbox.mountImage(image, root, "defaults");
    return root;
  }
}
