package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.origin.Attributes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class NameHashTest {
  private static final int CHOICES = 12;
  private static final int LONGEST_NAME = 255;
  private static final int BLOCK = 128;

  /**
   * Two blocks that have one hash where the factor is 31, as in Java: names of them all had one.
   */
  private static List<byte[]> namesOfBlocks() {
    List<byte[]> names = new ArrayList<>();
    for (int i = 0; i < 1 << CHOICES; i++) {
      StringBuilder name = new StringBuilder();
      for (int block = 0; block < CHOICES; block++) {
        name.append((i >> block & 1) == 0 ? "Aa" : "BB");
      }
      names.add(name.toString().getBytes(StandardCharsets.US_ASCII));
    }
    return names;
  }

  /**
   * Names whose polynomials are equal modulo 2^32 for each factor that leaves 5 modulo 8: they
   * differ by sums of the Thue-Morse polynomial, the product of 1 - x^(2^i), moved by some places.
   */
  private static List<byte[]> namesOfThueAndMorse() {
    List<byte[]> names = new ArrayList<>();
    for (int i = 0; i < 1 << CHOICES; i++) {
      byte[] name = new byte[LONGEST_NAME];
      Arrays.fill(name, (byte) 'd');
      for (int choice = 0; choice < CHOICES; choice++) {
        for (int place = 0; (i >> choice & 1) != 0 && place < BLOCK; place++) {
          int sign = Integer.bitCount(place) % 2 == 0 ? 1 : -1;
          name[choice * 10 + place] = (byte) (name[choice * 10 + place] + sign);
        }
      }
      names.add(name);
    }
    return names;
  }

  private static int polynomial(int factor, byte[] name) {
    int hash = 1;
    for (byte each : name) {
      hash = factor * hash + each;
    }
    return hash;
  }

  @Test
  void hash_ofNamesThatAUserHasChosen_isAnotherForEach() {
    List<byte[]> chosen = namesOfThueAndMorse();
    assertThat(chosen)
        .extracting(name -> polynomial(0x1234_5675, name))
        .containsOnly(polynomial(0x1234_5675, chosen.get(0)));
    for (List<byte[]> names : List.of(chosen, namesOfBlocks())) {
      Set<Integer> hashes = new HashSet<>();
      names.forEach(name -> hashes.add(NameHash.of(7, name)));
      assertThat(hashes).hasSizeGreaterThan(names.size() - 10);
    }
  }

  @Test
  void hash_ofOneNameInManyDirectories_isAnotherForEach() {
    Set<Integer> hashes = new HashSet<>();
    for (int directory = 1; directory <= 4096; directory++) {
      hashes.add(NameHash.of(directory, new byte[] {'a'}));
    }
    assertThat(hashes).hasSizeGreaterThan(4086);
  }

  /** An entry is found by its name, and removed by its record. */
  @Test
  void hash_ofARecord_isThatOfItsName() throws FsException {
    try (NodeTable table = new NodeTable(GrowingMemory.ofProcess("test"))) {
      Attributes attributes =
          new Attributes(Attributes.DIRECTORY | 0755, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, "etag");
      long root = table.add(0, new byte[0], attributes);
      for (int length = 1; length <= LONGEST_NAME; length++) {
        byte[] name = new byte[length];
        Arrays.fill(name, (byte) (0x80 + length));
        long id = table.add(root, name, attributes);
        assertThat(table.nameHash(id)).isEqualTo(NameHash.of(root, name));
      }
    }
  }
}
