package io.holdfast.peer.transfer;

import io.holdfast.peer.Dataset;

/** Names that both sides of the data plane write. */
final class Wire {
  static final String HELLO = "/v1/hello";
  static final String HEALTH = "/healthz";
  static final String DATASETS = "/v1/datasets/";
  static final String ITEMS = "/items/";
  static final String SKETCH = "/sketch";

  /** Fresh random bytes of a client, in base64url. */
  static final String NONCE = "Holdfast-Nonce";

  /** The address that the client listens at. */
  static final String NODE = "Holdfast-Node";

  /** {@code length=<bytes of the item>;item-size=<bytes of every item of a large file>}. */
  static final String ITEM = "Holdfast-Item";

  /** Bytes that are resident at the server. */
  static final String RESIDENT = "Holdfast-Resident";

  /** What proves that an answer is the peer's. */
  static final String MAC = "Holdfast-Mac";

  /** Digests of what asker and asked tell of their datasets, {@code asker;asked}. */
  static final String SKETCHES = "Holdfast-Sketches";

  /** RFC 9530: {@code sha-256=:<32 bytes in base64>:}. */
  static final String DIGEST = "Content-Digest";

  static final String SCHEME = "Holdfast";
  static final String ONLY_IF_CACHED = "only-if-cached";

  private Wire() {}

  /** Returns where a dataset's sketch is. */
  static String sketchOf(Dataset dataset) {
    return DATASETS + dataset.id() + SKETCH;
  }
}
