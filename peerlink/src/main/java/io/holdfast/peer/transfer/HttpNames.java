package io.holdfast.peer.transfer;

import io.holdfast.peer.SharedDataset;

/** Names in HTTP that both sides of the data plane use. */
final class HttpNames {
  static final String HELLO = "/v1/hello";
  static final String HEALTH = "/healthz";
  static final String DATASETS = "/v1/datasets/";
  static final String ITEMS = "/items/";
  static final String SKETCH = "/sketch";
  static final String PLAN = "/plan";

  /** Precedes the name of the offer that the asker knows, which does not travel again. */
  static final String KNOWN = "?known=";

  /** Fresh random bytes of a client, in base64url. */
  static final String NONCE = "Holdfast-Nonce";

  /** The address that the client listens at. */
  static final String NODE = "Holdfast-Node";

  /** {@code length=<bytes of the item>;item-size=<bytes of every item of a large file>}. */
  static final String ITEM = "Holdfast-Item";

  /** Bytes that are resident at the server. */
  static final String RESIDENT = "Holdfast-Resident";

  /** The MAC that proves that an answer is the peer's. */
  static final String MAC = "Holdfast-Mac";

  /** Digests of the sketches of asker and asked, {@code asker;asked}. */
  static final String SKETCHES = "Holdfast-Sketches";

  /** RFC 9530: {@code sha-256=:<32 bytes in base64>:}. */
  static final String DIGEST = "Content-Digest";

  static final String SCHEME = "Holdfast";
  static final String ONLY_IF_CACHED = "only-if-cached";

  private HttpNames() {}

  /** Returns the path of a node's offer of a plan for a dataset; a name may follow it. */
  static String planOf(SharedDataset dataset) {
    return DATASETS + dataset.id() + PLAN + KNOWN;
  }

  /** Returns the path of a dataset's sketch. */
  static String sketchOf(SharedDataset dataset) {
    return DATASETS + dataset.id() + SKETCH;
  }
}
