package io.holdfast.fs.plan;

import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.transit.Item;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The files that the ranks of a job divide, by their places in the list from which the sampler
 * draws. Each is one item, or empty. 28 bytes a file. Immutable and thread-safe.
 */
final class PlanFiles {
  static final int NONE = -1;

  /** Spreads the numbers of nodes, which are dense, over the table. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private final long[] ids;
  private final int[] weights;

  /** Places by the numbers of nodes, with open addressing; a place is counted from 1. */
  private final int[] table;

  private final long weight;
  private final String digest;

  private PlanFiles(long[] ids, int[] weights, int[] table, long weight, String digest) {
    this.ids = ids;
    this.weights = weights;
    this.table = table;
    this.weight = weight;
    this.digest = digest;
  }

  /**
   * Looks at all files, which takes some time.
   *
   * @param ids the nodes of the files
   * @param parts finds the files
   * @return null if a file is there twice, has several items, or its name says whether it is
   *     resident
   */
  static @Nullable PlanFiles of(long[] ids, PlanParts parts) {
    int[] weights = new int[ids.length];
    int[] table = new int[Integer.highestOneBit(Math.max(1, ids.length)) * 4];
    MessageDigest digest = sha256();
    long sum = 0;
    for (int place = 0; place < ids.length; place++) {
      Item item = parts.items().item(ids[place]);
      int slot = slot(table, ids[place], ids);
      if (table[slot] != 0 || (item == null && parts.items().count(ids[place]) != 0)) {
        return null;
      }
      table[slot] = place + 1;
      weights[place] = item == null ? 1 : (int) parts.residents().weight(item);
      sum += weights[place];
      digest(digest, item);
    }
    return new PlanFiles(ids, weights, table, sum, text(digest));
  }

  /** Adds a file. An empty one has no name here, but takes a place in the order. */
  private static void digest(MessageDigest digest, @Nullable Item item) {
    byte[] path = item == null ? new byte[0] : item.path().get().bytes();
    long length = item == null ? 0 : item.length();
    digest.update(ByteBuffer.allocate(12).putInt(path.length).putLong(length).flip());
    digest.update(path);
  }

  private static int slot(int[] table, long id, long[] ids) {
    int slot = (int) ((id * SPREAD) >>> 33) & (table.length - 1);
    while (table[slot] != 0 && ids[table[slot] - 1] != id) {
      slot = (slot + 1) & (table.length - 1);
    }
    return slot;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static String text(MessageDigest digest) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(digest.digest());
  }

  /** Returns the digest of some text. */
  static String digest(String text) {
    MessageDigest digest = sha256();
    digest.update(text.getBytes(StandardCharsets.US_ASCII));
    return text(digest);
  }

  /**
   * Returns a name of these files in the orders of a sampler, of any epoch and rank: the same on
   * every node that has the same list of the same files.
   */
  String nameOfOrder(TorchSampler sampler, TorchSampler.Replica replica) {
    return digest(
        "%s %s %s %s %d"
            .formatted(
                digest, sampler.seed(), sampler.shuffle(), replica.dropLast(), replica.world()));
  }

  int size() {
    return ids.length;
  }

  long id(int place) {
    return ids[place];
  }

  /** Returns the bytes of a file in whole pages, at least 1. */
  long weight(int place) {
    return weights[place];
  }

  /** Returns the bytes of all files in whole pages. */
  long weight() {
    return weight;
  }

  /** Returns the place of an item's file, or {@link #NONE} if the file is not in the list. */
  int place(Item item) {
    return item.key().extent() == 0 ? table[slot(table, item.node(), ids)] - 1 : NONE;
  }

  /** Returns the places of the files that are resident. */
  BitSet residents(PlanParts.Residents residents) {
    BitSet places = new BitSet(size());
    residents.forEach(
        item -> {
          int place = place(item);
          if (place != NONE) {
            places.set(place);
          }
        });
    return places;
  }

  /** Returns the same files out of others, so that they are in memory once; these if none are. */
  PlanFiles orSame(List<PlanFiles> others) {
    return others.stream().filter(this::hasSameFiles).findFirst().orElse(this);
  }

  private boolean hasSameFiles(PlanFiles other) {
    return Arrays.equals(ids, other.ids) && Arrays.equals(weights, other.weights);
  }
}
