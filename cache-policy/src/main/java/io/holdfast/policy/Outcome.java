package io.holdfast.policy;

/** The result of an offer: whether the item was admitted, and the residents that were evicted. */
public final class Outcome {

  static final Outcome ADMITTED = new Outcome(true, new long[0]);
  static final Outcome REFUSED = new Outcome(false, new long[0]);

  private final boolean admitted;
  private final long[] evicted;

  private Outcome(boolean admitted, long[] evicted) {
    this.admitted = admitted;
    this.evicted = evicted;
  }

  static Outcome of(boolean admitted, long[] evicted) {
    if (evicted.length == 0) {
      return admitted ? ADMITTED : REFUSED;
    }
    return new Outcome(admitted, evicted);
  }

  public boolean admitted() {
    return admitted;
  }

  /** The evicted residents, in order; the caller owns the array. */
  public long[] evicted() {
    return evicted;
  }

  @Override
  public String toString() {
    return (admitted ? "admitted, " : "refused, ") + evicted.length + " evicted";
  }
}
