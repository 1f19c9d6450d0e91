package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.it.Acls.User;
import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A user without a right by an ACL at the origin has none on the mount, with either binding; and
 * datasets without ACLs cost nothing.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class AclIT {
  private static final User DAEMON = AclTree.USERS.get(0);
  private static final User NOBODY = AclTree.USERS.get(1);
  private static final User MEMBER = AclTree.USERS.get(3);
  private static final Duration SOON = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();

  private Path origin() {
    return sandbox.tmpfs("origin");
  }

  private static void write(Path file, String mode) throws IOException {
    Files.writeString(file, "content");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void strictModes_ofAnyAcl_giveNobodyMoreThanTheOriginDoes() throws IOException {
    AclTree tree = AclTree.create(origin(), seed);
    Mount mount = sandbox.mount(tree.root(), "--capacity", "1M", "--acl", "strict");

    for (User user : AclTree.USERS) {
      List<String> origin = user.tries(sandbox, tree.root(), tree.paths());
      List<String> shown = user.tries(sandbox, mount.mountpoint(), tree.paths());
      for (int i = 0; i < origin.size(); i++) {
        String path = tree.paths().get(i);
        assertThat(rights(origin.get(i)))
            .as("seed %d: %s of %s by %s", seed, path, tree.acl(path), user)
            .containsAll(rights(shown.get(i)));
      }
    }
    assertThat(mode(mount, "daemon-alone")).isEqualTo(0600);
    assertThat(mode(mount, "not-nobody")).isEqualTo(0600);
    assertThat(mode(mount, "mask-without-names")).isEqualTo(0604);
    assertThat(mode(mount, "no-acl")).isEqualTo(0640);
    assertThat(mode(mount, "in-denied-dir")).isEqualTo(0700);
    assertThat(mount.stats().at("dataset.acls")).isEqualTo("strict");
    assertThat(sandbox.holdfast("doctor", mount.name()).out()).contains("--acl kernel");
    assertThat(Files.readString(mount.log())).containsOnlyOnce("the dataset has ACLs");
  }

  private static List<String> rights(String line) {
    String rights = line.substring(line.lastIndexOf(' ') + 1);
    return rights.chars().mapToObj(Character::toString).toList();
  }

  private static int mode(Mount mount, String path) throws IOException {
    return Posix.lstat(RawPath.of(mount.path(path))).mode() & 0777;
  }

  /**
   * The mount notices the change by the time of change, within the ttl or at once after a refresh,
   * whoever looked before.
   */
  @Test
  void aclChanged_refreshedOrTtlOver_isObeyed() throws IOException {
    Path root = origin();
    write(root.resolve("taken"), "rw-r--r--");
    write(root.resolve("given"), "rw-------");
    Acls.set(root.resolve("given"), "u::rw,u:65534:r,g::r,m::r,o::r");
    Mount refreshed = sandbox.mount(root, "--capacity", "1M");
    Mount believing = sandbox.mount(root, "--capacity", "1M", "--metadata-ttl", "1s");
    for (Mount mount : List.of(refreshed, believing)) {
      assertThat(NOBODY.can(sandbox, mount.mountpoint(), "taken")).isTrue();
      assertThat(NOBODY.can(sandbox, mount.mountpoint(), "given")).isTrue();
    }

    Acls.set(root.resolve("taken"), "u::rw,u:65534:-,g::r,m::r,o::r");
    Acls.set(root.resolve("given"), "u::rw,u:1:r,g::-,m::r,o::-");
    refreshed.refresh();

    assertThat(NOBODY.can(sandbox, refreshed.mountpoint(), "taken")).isFalse();
    assertThat(NOBODY.can(sandbox, refreshed.mountpoint(), "given")).isFalse();
    assertThat(MEMBER.can(sandbox, refreshed.mountpoint(), "given")).isFalse();
    Await.until(
        SOON,
        "the ACLs of now",
        () ->
            !NOBODY.can(sandbox, believing.mountpoint(), "taken")
                && !NOBODY.can(sandbox, believing.mountpoint(), "given"));

    Acls.remove(root.resolve("taken"));
    Files.setPosixFilePermissions(
        root.resolve("taken"), PosixFilePermissions.fromString("rw-r--r--"));
    refreshed.refresh();
    assertThat(NOBODY.can(sandbox, refreshed.mountpoint(), "taken")).isTrue();
  }

  /** The kernel was told at the mount that it need not ask for ACLs. */
  @Test
  void datasetWithoutAcls_isNotAskedForAny_andTheFirstOneSetAfterTheMountIsObeyedStrictly()
      throws IOException {
    Dataset dataset = Dataset.create(origin(), 200, i -> 5000);
    Path root = dataset.root();
    write(root.resolve("file"), "rw-r--r--");
    Mount mount = sandbox.mount(root, "--capacity", "64M", "--count-opens", "off");
    for (int epoch = 0; epoch < 2; epoch++) {
      NOBODY
          .tries(sandbox, mount.mountpoint(), dataset.files())
          .forEach(line -> assertThat(line).endsWith(" r"));
    }
    assertThat(mount.stats().requests("GETXATTR")).isZero();
    assertThat(mount.stats().requests("LISTXATTR")).isZero();
    assertThat(NOBODY.can(sandbox, mount.mountpoint(), "file")).isTrue();
    assertThat(mount.stats().at("dataset.acls")).isEqualTo("none");

    Acls.set(root.resolve("file"), "u::rw,u:65534:-,g::-,m::r,o::r");
    mount.refresh();

    assertThat(NOBODY.can(sandbox, mount.mountpoint(), "file")).isFalse();
    assertThat(DAEMON.can(sandbox, mount.mountpoint(), "file")).isFalse();
    assertThat(mode(mount, "file")).isEqualTo(0600);
    assertThat(mount.stats().at("dataset.acls")).isEqualTo("strict");
  }
}
