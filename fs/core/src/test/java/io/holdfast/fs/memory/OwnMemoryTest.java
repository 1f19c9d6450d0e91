package io.holdfast.fs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Procfs;
import org.junit.jupiter.api.Test;

class OwnMemoryTest {
  private static final long MIB = 1 << 20;
  private static final OwnMemory.Promised PROMISED =
      new OwnMemory.Promised(256 * MIB, 64 * MIB, 512 * MIB, 32 * MIB);

  private static OwnMemory of(OwnMemory.Parts parts) {
    return new OwnMemory(Procfs.host(), PROMISED, () -> parts);
  }

  private static OwnMemory.Parts parts(long items, long metadata) {
    return new OwnMemory.Parts(1000 * MIB, items, 10 * MIB, 20 * MIB, metadata * MIB);
  }

  private static OwnUse use(long items, long metadata, long heap, long anonymous) {
    OwnMemory.Parts parts = parts(items, metadata);
    return of(parts)
        .of(
            parts,
            new OwnMemory.Measured(
                anonymous * MIB, (metadata + 1) * MIB, heap * MIB, 80 * MIB, 2 * MIB));
  }

  @Test
  void littleIsUsed_whatWasPromisedCounts() {
    OwnUse use = use(0, 100, 128, 300);

    assertThat(use.besides()).isEqualTo((256 + 512 + 32) * MIB);
    assertThat(use.total()).isEqualTo((1000 + 10 + 300 + 101 + 2) * MIB);
    assertThat(use.other()).isEqualTo((300 - 128 - 80 - 20 + 1) * MIB);
  }

  @Test
  void metadataOrHeapGrow_takesMoreThanWasPromised() {
    assertThat(use(0, 600, 128, 300).besides()).isEqualTo((256 + 128 + 80 + 64 + 600 + 2) * MIB);
    assertThat(use(0, 100, 512, 600).besides()).isEqualTo((256 + 512 + 80 + 64 + 100 + 2) * MIB);
  }

  @Test
  void moreIsThereThanWasPromised_whatIsThereCounts() {
    assertThat(use(0, 100, 128, 1500).besides()).isEqualTo((1500 + 101 + 10 + 2) * MIB);
  }

  @Test
  void residents_takeOfTheKernelsMemoryToo() {
    long items = 1_000_000;
    long kernel = items * OwnMemory.KERNEL_BYTES_AN_ITEM + 2 * MIB;

    OwnUse use = use(items, 100, 128, 300);

    assertThat(use.kernel()).isEqualTo(kernel);
    assertThat(use.besides()).isEqualTo((256 + 128 + 80 + 64 + 100) * MIB + kernel);
  }

  @Test
  void thisProcess_isMeasured() {
    OwnUse use = of(parts(0, 0)).now();

    assertThat(use.heap()).isPositive();
    assertThat(use.total()).isGreaterThan(use.heap());
    assertThat(use.kernel()).isPositive();
  }
}
