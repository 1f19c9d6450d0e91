package io.holdfast.fs.transit;

/** A fetch, as {@link Sharing} knows it. Thread-safe. */
record Handed(MissPath path, Fetch fetch) implements SharedFetch {
  @Override
  public void letGo() {
    path.letGo(fetch);
  }

  @Override
  public void goOn() {
    path.goOn(fetch);
  }
}
