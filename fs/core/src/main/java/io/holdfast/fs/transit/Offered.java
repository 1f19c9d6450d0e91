package io.holdfast.fs.transit;

/** A complete fetch that residency decides on. Thread-safe. */
record Offered(MissPath path, Fetch fetch) implements Fetched {
  @Override
  public Item item() {
    return fetch.item();
  }

  @Override
  public long hold() {
    return fetch.hold();
  }

  @Override
  public void release() {
    fetch.release();
  }

  @Override
  public int firstUndelivered() {
    return fetch.firstUndelivered();
  }

  @Override
  public int readsFromElsewhere() {
    return fetch.readsFromElsewhere();
  }

  @Override
  public boolean isPredicted() {
    return fetch.isPredicted();
  }

  @Override
  public boolean isOutdated() {
    return fetch.isOutdated();
  }

  @Override
  public void giveWay() {
    path.giveWay(fetch);
  }

  @Override
  public void done() {
    path.retire(fetch);
  }

  @Override
  public void passedOn() {
    path.passedOn(fetch);
  }
}
