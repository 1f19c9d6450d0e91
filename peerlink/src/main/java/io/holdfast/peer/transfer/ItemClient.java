package io.holdfast.peer.transfer;

/** Placeholder for the javadoc link; written next. */
final class ItemClient {
  private ItemClient() {}
}
