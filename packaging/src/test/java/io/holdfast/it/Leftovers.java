package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Everything that a mount which did not come about could have left: as it is at one moment. */
final class Leftovers {
  private final Sandbox sandbox;
  private final Set<String> all;

  private Leftovers(Sandbox sandbox, Set<String> all) {
    this.sandbox = sandbox;
    this.all = all;
  }

  static Leftovers of(Sandbox sandbox) {
    List<String> all = new ArrayList<>(sandbox.temporaryFiles());
    MountTable.below(sandbox.root()).stream()
        .filter(MountTable.Row::isHoldfast)
        .forEach(row -> all.add(row.mountpoint()));
    ProcessTable.marked(sandbox.id()).forEach(row -> all.add(row.commandLine()));
    sandbox.sockets().forEach(socket -> all.add(socket.toString()));
    return new Leftovers(sandbox, Set.copyOf(all));
  }

  /** Fails where there is more now. */
  void assertNothingMore() {
    assertThat(of(sandbox).all).isSubsetOf(all);
  }

  /** Fails unless a command said one line, which a user understands. */
  static void assertOneLine(Child.Result result, String mentioned) {
    assertThat(result.err().strip())
        .as("%s", result)
        .startsWith("holdfast: ")
        .doesNotContain("\n")
        .doesNotContain("Exception")
        .contains(mentioned);
    assertThat(result.out()).isEmpty();
  }
}
