package io.holdfast.fs.plan;

import java.util.Base64;
import java.util.BitSet;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A node's part in a plan, as the node tells its peers: the order that its jobs read, its room and
 * its residents. From the offers of all nodes each of them computes the same plan. Immutable if
 * nobody changes the set.
 *
 * <pre>
 *   holdfast-plan 1
 *   order NAME epoch E world W files N
 *   capacity C room R dataset D
 *   ranks R R ...
 *   residents BASE64
 * </pre>
 *
 * @param order names list, sampler and world; see {@link PlanFiles#nameOfOrder}
 * @param epoch the epoch that the node's ranks begin
 * @param world how many ranks there are on all nodes
 * @param ranks the ranks of this node, ascending
 * @param files how many files the list has
 * @param capacity bytes that the node's residents may take
 * @param room the bytes of these that files of the list may take
 * @param dataset bytes of the dataset in whole pages
 * @param residents the files of the list that are resident, by their places
 */
record PlanOffer(
    String order,
    int epoch,
    int world,
    List<Integer> ranks,
    int files,
    long capacity,
    long room,
    long dataset,
    BitSet residents) {
  /** The most ranks. */
  static final int MOST_RANKS = 4096;

  /** The last epoch that an order may begin with, so that the numbers of all have 9 digits. */
  static final int LAST_FIRST_EPOCH = 900_000_000;

  /** The last epoch. */
  static final int LAST_EPOCH = 999_999_999;

  /** The most letters without the residents: ranks have 4 digits at most. */
  private static final int LONGEST_WORDS = 512 + 5 * MOST_RANKS;

  private static final String HEAD = "holdfast-plan 1\n";

  private static final Pattern FORM =
      Pattern.compile(
          HEAD
              + "order ([A-Za-z0-9_-]{43}) epoch (\\d{1,9}) world (\\d{1,9}) files (\\d{1,9})\n"
              + "capacity (\\d{1,18}) room (\\d{1,18}) dataset (\\d{1,18})\n"
              + "ranks( [0-9 ]*+)\n"
              + "residents ([A-Za-z0-9_-]*+)\n");

  /** Copies the ranks. */
  PlanOffer {
    ranks = List.copyOf(ranks);
  }

  /** Makes the offer of this node. Looks at all residents, which takes some time. */
  static PlanOffer of(LocalRanks.Part part, PlanParts parts) {
    RankJob job = part.job();
    PlanFiles files = job.files;
    BitSet residents = files.residents(parts.residents());
    long listed = residents.stream().mapToLong(files::weight).sum();
    long capacity = parts.residents().capacity();
    long others = Math.max(0, parts.residents().bytes() - listed);
    return new PlanOffer(
        job.order,
        part.epoch(),
        job.replica.world(),
        part.ranks(),
        files.size(),
        capacity,
        Math.max(0, capacity - others),
        Math.max(0, parts.datasetBytes().getAsLong()),
        residents);
  }

  /** Tells whether another offer is of the same order, in any epoch. */
  boolean isOfSameOrder(PlanOffer other) {
    return order.equals(other.order) && files == other.files && world == other.world;
  }

  /** Tells whether a capacity is not the same as this one, but for 1 %. */
  boolean isOfOtherCapacity(long bytes) {
    return Math.abs(bytes - capacity) > capacity / 100;
  }

  /** Returns the most letters that an offer of so many files has. */
  static int longest(int files) {
    return LONGEST_WORDS + files / 6 + 4; // 6 bits a letter
  }

  /**
   * Parses a peer's offer.
   *
   * @throws IllegalArgumentException if the text is none
   */
  static PlanOffer parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException("no offer of a plan");
    }
    int world = Integer.parseInt(form.group(3));
    int files = Integer.parseInt(form.group(4));
    TreeSet<Integer> ranks = new TreeSet<>();
    for (String word : form.group(8).substring(1).split(" ", MOST_RANKS + 1)) {
      int rank = Integer.parseInt(word);
      if (rank >= world || !(ranks.isEmpty() || ranks.last() < rank)) {
        throw new IllegalArgumentException("an offer with the rank " + rank + " of " + world);
      }
      ranks.add(rank);
    }
    BitSet residents = BitSet.valueOf(Base64.getUrlDecoder().decode(form.group(9)));
    if (world > MOST_RANKS || residents.length() > files) {
      throw new IllegalArgumentException(
          "an offer of %d ranks and %d files".formatted(world, residents.length()));
    }
    return new PlanOffer(
        form.group(1),
        Integer.parseInt(form.group(2)),
        world,
        List.copyOf(ranks),
        files,
        Long.parseLong(form.group(5)),
        Long.parseLong(form.group(6)),
        Long.parseLong(form.group(7)),
        residents);
  }

  /** Writes the form that peers parse. */
  @Override
  public String toString() {
    StringBuilder all = new StringBuilder(HEAD);
    all.append(
        "order %s epoch %d world %d files %d\ncapacity %d room %d dataset %d\nranks"
            .formatted(order, epoch, world, files, capacity, room, dataset));
    ranks.forEach(rank -> all.append(' ').append(rank));
    return all.append("\nresidents ")
        .append(Base64.getUrlEncoder().withoutPadding().encodeToString(residents.toByteArray()))
        .append('\n')
        .toString();
  }
}
