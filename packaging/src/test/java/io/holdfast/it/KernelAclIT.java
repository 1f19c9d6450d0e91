package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.it.Acls.User;
import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** If the kernel decides by ACLs, rights are those at the origin. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class KernelAclIT {
  private static final Duration TAKEOVER = Duration.ofSeconds(60);
  private static final User DAEMON = AclTree.USERS.get(0);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();

  private void assertSameRights(AclTree tree, Mount mount) {
    for (User user : AclTree.USERS) {
      List<String> origin = user.tries(sandbox, tree.root(), tree.paths());
      List<String> shown = user.tries(sandbox, mount.mountpoint(), tree.paths());
      for (int i = 0; i < origin.size(); i++) {
        assertThat(shown.get(i))
            .as("seed %d: %s by %s", seed, tree.acl(tree.paths().get(i)), user)
            .isEqualTo(origin.get(i));
      }
    }
  }

  /**
   * With the first mount, which is older than the ACLs, it was agreed that there are none. The
   * rights are the same under the next daemon, which cannot agree on anything new with the kernel.
   */
  @Test
  void rights_ofAnyAcl_areThoseAtTheOrigin_onceItIsMountedAgainAfterTheFirstAcl()
      throws IOException {
    Path root = sandbox.tmpfs("origin");
    Files.writeString(root.resolve("file"), "content");
    Mount first = sandbox.mount(root, "--capacity", "1M");
    Acls.set(root.resolve("file"), "u::rw,u:1:r,g::-,m::r,o::-");
    first.refresh();
    assertThat(DAEMON.can(sandbox, first.mountpoint(), "file")).isFalse();
    AclTree tree = AclTree.create(root, seed);

    Mount mount = sandbox.mount(root, "--capacity", "1M");

    assertThat(DAEMON.can(sandbox, mount.mountpoint(), "file")).isTrue();
    assertThat(Files.exists(mount.path(".holdfast/stats.json"))).isTrue();
    assertSameRights(tree, mount);
    assertThat(mount.stats().requests("GETXATTR")).as("ACLs were asked for").isPositive();
    assertThat(mount.stats().at("dataset.acls")).isEqualTo("kernel");
    assertThat(xattr(mount, "not-nobody", Acls.ACCESS))
        .isEqualTo(Acls.bytes(tree.acl("not-nobody")));
    assertThat(Posix.lstat(RawPath.of(mount.path("daemon-alone"))).mode() & 0777).isEqualTo(0640);

    mount.signal(Posix.SIGKILL);
    mount.findAgain(TAKEOVER);
    assertThat(mount.stats().at("dataset.acls")).isEqualTo("kernel");
    mount.refresh();
    assertSameRights(tree, mount);
  }

  private static byte[] xattr(Mount mount, String path, String name) throws IOException {
    return Posix.xattr(RawPath.of(mount.path(path)), name);
  }

  @Test
  void acl_withoutExtendedAttributes_isObeyedStrictly() {
    Path root = sandbox.tmpfs("origin");
    AclTree tree = AclTree.create(root, seed);
    Mount mount = sandbox.mount(root, "--capacity", "1M", "--xattr", "off");
    assertThat(DAEMON.can(sandbox, mount.mountpoint(), "daemon-alone")).isFalse();
    assertThat(mount.stats().at("dataset.acls")).isEqualTo("strict");
    Child.Result refused =
        sandbox.holdfast(
            "mount", "--acl", "kernel", "--xattr", "off", root.toString(), tree.root().toString());
    assertThat(refused.exit()).isNotZero();
    assertThat(refused.err()).contains("--acl kernel is not possible with --xattr off");
  }
}
