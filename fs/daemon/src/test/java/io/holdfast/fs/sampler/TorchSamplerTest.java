package io.holdfast.fs.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.sampler.TorchSampler.Replica;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The digests are the first 16 digits of what {@code packaging/e2e/orders/orders.py} printed for
 * the same case with Debian's python3-torch 1.13.1: SHA-256 of an index a line.
 */
class TorchSamplerTest {
  @ParameterizedTest
  @CsvSource({
    "1, 0, 0, 0, 0, shuffle, 9a271f2a916b0b6e",
    "2, 0, 0, 0, 0, shuffle, 82c1315e6c757f33",
    "2, 42, 1, 0, 0, shuffle, 82c1315e6c757f33",
    "1000, 0, 0, 0, 0, shuffle, fd8d37eb67ff62ec",
    "1000, 42, 2, 0, 0, shuffle, 42fd779b7d4fe497",
    "1000, -1, 1, 0, 0, shuffle, e09441c3a5dd4d7e",
    "999983, 7, 0, 0, 0, shuffle, 9026dd869d2cd3f3",
    "1000000, 4294967301, 1, 0, 0, shuffle, ef8524a2a1f9523d",
    "1000000, 18446744073709551615, 0, 0, 0, shuffle, 0d263b51a219a8d9",
    "1, 0, 3, 7, 8, shuffle, 9a271f2a916b0b6e",
    "3, 1, 0, 5, 8, shuffle, 9a271f2a916b0b6e",
    "1000, 0, 5, 2, 3, shuffle, 569a587361c1441b",
    "1000, 0, 5, 2, 3, shuffle drop-last, d98cfa8b5c3d45ee",
    "1000, 0, 5, 2, 3, no-shuffle, a8d63e54f152a6c4",
    "999983, 42, 1, 7, 8, shuffle, edc5bcce6b7b8de5",
    "999983, 42, 1, 7, 8, shuffle drop-last, 0cb37f1ee010699f",
    "1000000, 42, 1, 6, 7, shuffle, e0a1c33ace5a058c",
    "2, 9, 0, 7, 8, no-shuffle, 4355a46b19d348dc",
  })
  void indices_areThoseOfTorch(
      int n, BigInteger seed, int epoch, int rank, int world, String how, String digest) {
    Replica replica = world == 0 ? null : new Replica(rank, world, how.contains("drop-last"));
    TorchSampler sampler = new TorchSampler(seed, epoch, !how.startsWith("no-shuffle"), replica);
    assertThat(digest(sampler.indices(n))).startsWith(digest);
  }

  private static String digest(int[] indices) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      for (int index : indices) {
        sha.update((index + "\n").getBytes(StandardCharsets.US_ASCII));
      }
      return HexFormat.of().formatHex(sha.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void ranks_withoutDropLast_readEveryItemAndRepeatTheFirst() {
    List<Integer> all = new ArrayList<>();
    for (int rank = 0; rank < 3; rank++) {
      TorchSampler sampler = new TorchSampler(BigInteger.ONE, 0, true, new Replica(rank, 3, false));
      int[] indices = sampler.indices(10);
      assertThat(indices).hasSize(4);
      Arrays.stream(indices).forEach(all::add);
    }
    assertThat(all).hasSize(12).containsAll(IntStream.range(0, 10).boxed().toList());
  }

  @Test
  void ranks_withDropLastAndFewerItemsThanRanks_readNothing() {
    assertThat(new TorchSampler(BigInteger.ONE, 0, true, new Replica(5, 8, true)).indices(3))
        .isEmpty();
  }

  @Test
  void indices_ofNothing_areNone() {
    assertThat(new TorchSampler(BigInteger.ONE, 1, true, null).indices(0)).isEmpty();
    assertThat(new TorchSampler(BigInteger.ONE, 1, true, new Replica(0, 2, false)).indices(0))
        .isEmpty();
  }

  /**
   * Computed with numpy's MT19937, seeded in the same way: Debian's torch has no such branch, and
   * the smallest n for it takes two minutes.
   */
  @Test
  void insideOut_isThatOfWideNumbers() {
    assertThat(RandomPermutation.insideOut(10, new MersenneTwister(3)))
        .containsExactly(8, 5, 1, 2, 9, 7, 6, 3, 4, 0);
  }

  @Test
  void twister_skipping_isAtTheSameNumberAsDrawing() {
    MersenneTwister drawing = new MersenneTwister(3);
    MersenneTwister skipping = new MersenneTwister(3);
    assertThat(drawing.next32()).isEqualTo(2365658986L);
    for (int i = 0; i < 2000; i++) {
      drawing.next32();
    }
    skipping.skip(2001);
    assertThat(skipping.next64()).isEqualTo(drawing.next64());
  }

  @ParameterizedTest
  @CsvSource({
    "18446744073709551616, 0, 0, 1",
    "-9223372036854775809, 0, 0, 1",
    "18446744073709551615, 1, 0, 1",
    "0, -1, 0, 1",
    "0, 0, 1, 1",
    "0, 0, -1, 1",
    "0, 0, 0, 0",
  })
  void sampler_thatTorchRejects_isRejected(BigInteger seed, int epoch, int rank, int world) {
    assertThatThrownBy(() -> new TorchSampler(seed, epoch, true, new Replica(rank, world, false)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void epoch_tooFarFromTheFirst_isRejected() {
    TorchSampler sampler = new TorchSampler(BigInteger.ONE, Integer.MAX_VALUE, true, null);
    assertThatThrownBy(() -> sampler.indices(1_000_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("too far");
  }
}
