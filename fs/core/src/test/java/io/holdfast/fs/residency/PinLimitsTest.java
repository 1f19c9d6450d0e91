package io.holdfast.fs.residency;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Procfs;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PinLimitsTest {
  private static final int PAGE = 4096;
  private static final int RESERVED = 8192;
  private static final long CAPACITY = 1L << 30;
  private static final String MAX_MAP_COUNT = "proc/sys/vm/max_map_count";
  private static final PinLimits MAY_LOCK = new PinLimits(true, 1000);
  private static final PinLimits MAY_NOT = new PinLimits(false, 1000);

  @TempDir private Path root;

  @Test
  void choose_auto_locksWhereItIsAllowed() throws FsException {
    assertThat(MAY_LOCK.choose(null)).isTrue();
    assertThat(MAY_NOT.choose(null)).isFalse();
  }

  @Test
  void choose_soft_neverLocks() throws FsException {
    assertThat(MAY_LOCK.choose(false)).isFalse();
    assertThat(MAY_NOT.choose(false)).isFalse();
  }

  @Test
  void choose_hard_failsWhereItIsNotAllowed() throws FsException {
    assertThat(MAY_LOCK.choose(true)).isTrue();
    assertFails(() -> MAY_NOT.choose(true), FsError.NOT_PERMITTED);
  }

  @Test
  void raise_capability_mayLockWhateverTheLimit() throws IOException {
    status("CapPrm:\t0\nCapEff:\t0000000000004000\n");
    assertThat(raise(CAPACITY, 0).canLock()).isTrue();
  }

  @Test
  void raise_noCapability_mayLockUpToTheLimit() throws IOException {
    status("CapPrm:\t0000000000004000\nCapEff:\t0000000000003fff\n");
    assertThat(raise(CAPACITY, CAPACITY).canLock()).isTrue();
    assertThat(raise(CAPACITY, CAPACITY - 1).canLock()).isFalse();
  }

  @Test
  void raise_capabilitiesThatAreNotTold_mayLockUpToTheLimit() throws IOException {
    status("Name:\tjava\n");
    assertThat(raise(CAPACITY, CAPACITY - 1).canLock()).isFalse();
  }

  @Test
  void raise_moreThanThereIs_asksTheKernelForIt() throws IOException {
    mappings("65530\n");
    assertThat(raise(CAPACITY, 0).mappings()).isEqualTo(CAPACITY / PAGE + RESERVED);
    assertThat(root.resolve(MAX_MAP_COUNT)).hasContent(CAPACITY / PAGE + 2 * RESERVED + "");
  }

  @Test
  void raise_enoughAlready_changesNothing() throws IOException {
    mappings("2000000\n");
    assertThat(raise(CAPACITY, 0).mappings()).isEqualTo(2_000_000 - RESERVED);
    assertThat(root.resolve(MAX_MAP_COUNT)).hasContent("2000000\n");
  }

  @Test
  void raise_limitThatIsNotTold_isTakenForTheKernelsOwn() {
    assertThat(raise(CAPACITY, 0).mappings()).isEqualTo(65_530 - RESERVED);
  }

  private PinLimits raise(long capacity, long lockable) {
    return PinLimits.raise(capacity, new Procfs(root), () -> lockable);
  }

  private void status(String text) throws IOException {
    write("proc/self/status", text);
  }

  private void mappings(String text) throws IOException {
    write(MAX_MAP_COUNT, text);
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  /** The kernel gives such a number to the first read only, however short that is. */
  @Test
  void raise_lessThanThereIs_leavesTheMachineAsItIs() throws Exception {
    long before = mostMappings();
    PinLimits limits = PinLimits.raise(PAGE);
    assertThat(mostMappings()).isGreaterThanOrEqualTo(before);
    assertThat(limits.mappings()).isEqualTo(mostMappings() - RESERVED);
  }

  private static long mostMappings() throws Exception {
    Process cat = new ProcessBuilder("cat", "/proc/sys/vm/max_map_count").start();
    try (BufferedReader out = cat.inputReader(StandardCharsets.US_ASCII)) {
      return Long.parseLong(out.readLine());
    }
  }
}
