package io.holdfast.peer.transfer;

import org.jspecify.annotations.Nullable;

/** The reasons for which a healthy node does not send an item. */
public enum Refusal {
  /**
   * It does not have the item, and was asked not to fetch it: 504, as for {@code only-if-cached}.
   */
  NOT_CACHED(504),
  /** It does not have the item, and has no room for it: 507. */
  FULL(507),
  /** Its file has another version: 412. */
  OTHER_VERSION(412),
  /** It has no such dataset or file: 404. */
  UNKNOWN(404),
  /** It already sends as many items as it may: 503. */
  BUSY(503),
  /** It could not fetch the item: 502. */
  ORIGIN_FAILED(502),
  /** It found that the asker has another dataset under the same id: 409. */
  OTHER_DATASET(409),
  /** It does not know yet whether both have the same dataset: 425. */
  NOT_COMPARED(425);

  private final int status;

  Refusal(int status) {
    this.status = status;
  }

  /** Returns the refusal with a status; null where there is none. */
  static @Nullable Refusal of(int status) {
    for (Refusal each : values()) {
      if (each.status == status) {
        return each;
      }
    }
    return null;
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }
}
