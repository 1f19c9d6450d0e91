package io.holdfast.fs.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Procfs;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PromisesTest {
  private static final long GIB = 1L << 30;

  @TempDir private Path temp;

  @Test
  void mounts_areAddedUp() {
    Promises promises =
        new Promises(List.of(new Promises.Mount("a", 14 * GIB)), 1).with("b", 14 * GIB);
    assertThat(promises.text(25 * GIB))
        .isEqualTo(
            "2 mounts may keep 28.0 GiB of the machine's 25.0 GiB resident: a 14.0 GiB, b 14.0 GiB;"
                + " not counted: 1 more, of other users or without an answer");
    assertThat(promises.isTooMuch(25 * GIB)).isTrue();
    assertThat(promises.isTooMuch(36 * GIB)).isFalse();
    assertThat(promises.advice(25 * GIB)).endsWith(": a smaller --capacity for each");
    assertThat(promises.advice(36 * GIB)).isEqualTo(promises.text(36 * GIB));
  }

  /** Another user's daemon may say any number. */
  @Test
  void mounts_thatSayAbsurdNumbers_hideNoOthers() {
    Promises largest =
        new Promises(List.of(new Promises.Mount("a", Long.MAX_VALUE)), 0).with("b", GIB);
    assertThat(largest.isTooMuch(25 * GIB)).isTrue();
    assertThat(largest.exceeds(30 * GIB)).isTrue();
    Promises negative =
        new Promises(List.of(new Promises.Mount("a", Long.MIN_VALUE)), 0).with("b", 31 * GIB);
    assertThat(negative.isTooMuch(25 * GIB)).isTrue();
    assertThat(negative.exceeds(30 * GIB)).isTrue();
  }

  /** A user's own program can listen on a socket, and answer with any number. */
  @Test
  void most_ofAnotherUsersDaemon_isWhatItsProcessHasMapped() {
    FakeMachine machine =
        new FakeMachine(temp).file("proc/41/status", "VmRSS:\t9999 kB\nRssFile:\t    2048 kB\n");
    Procfs procfs = machine.files().procfs();
    Path socket = temp.resolve("x.sock");
    assertThat(Promises.most(new Subject("x", temp, null, 41, 0, 0, socket, null), procfs))
        .isEqualTo(2 << 20);
    assertThat(Promises.most(new Subject("x", temp, null, 0, 0, 0, socket, null), procfs)).isZero();
    assertThat(Promises.most(new Subject("x", temp, null, 41, 0, 0, socket, temp), procfs))
        .as("of this user or root")
        .isEqualTo(Long.MAX_VALUE);
  }

  /** One that fits into its own ceiling is what its owner wanted. */
  @Test
  void mount_thatIsAlone_isNeverTooMuch() {
    assertThat(new Promises(List.of(), 0).with("a", 24 * GIB).isTooMuch(25 * GIB)).isFalse();
  }

  @Test
  void partsOfTheNodesBudget_areTold() {
    Promises.Mount joined = new Promises.Mount("b", 10 * GIB, 0, true, true, null);
    Promises promises = new Promises(List.of(new Promises.Mount("a", 14 * GIB), joined), 0);
    assertThat(promises.ofBudget(30 * GIB))
        .isEqualTo(
            "24.0 GiB of the node's budget of 30.0 GiB are promised, of these 10.0 GiB to mounts"
                + " that have joined it: b");
    assertThat(promises.exceeds(30 * GIB)).isFalse();
    assertThat(promises.exceeds(24 * GIB - 1)).isTrue();
    assertThat(new Promises(List.of(), 0).ofBudget(GIB))
        .endsWith("0 B to mounts that have joined it");
  }

  @Test
  void mounts_withoutADaemonThatAnswers_areNotCounted() throws InterruptedException {
    Path none = Path.of("/nonexistent/x.sock");
    Subject dead = new Subject("dead", Path.of("/d"), null, 0, 7, 0, none, null);
    Subject silent = new Subject("silent", Path.of("/s"), null, 41, 0, 0, none, null);
    assertThat(Promises.ask(List.of(dead, silent))).isEqualTo(new Promises(List.of(), 2));
  }
}
