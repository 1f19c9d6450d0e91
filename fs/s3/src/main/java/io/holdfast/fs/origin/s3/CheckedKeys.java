package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Rejects listings that do not match the request. All keys must begin with the prefix and be in
 * order, and a listing that is not the last one must continue. Otherwise a store that ignores where
 * to begin would be listed for ever, and a store without order would lose keys. Thread-safe.
 *
 * <p>Every listing says whether it is whole. The client takes any other answer with status 200 for
 * a listing without keys, and the keys behind would count as gone: an empty body, or the list of
 * buckets of a gateway that does not look for the bucket's name in the host.
 *
 * <p>Asks for the next page where one without keys is not the last one: some stores count the keys
 * of a page before they drop the hidden ones. So a page without keys means that no key is left.
 *
 * <p>A listing that the store refuses fails with UNAVAILABLE: the refusal does not concern one
 * directory, but all keys that the credentials could list before.
 */
final class CheckedKeys implements SortedKeys {
  /** Pages without keys in a row at most: as many as a million hidden keys take. */
  static final int MOST_EMPTY = 1000;

  private final SortedKeys store;

  CheckedKeys(SortedKeys store) {
    this.store = store;
  }

  @Override
  public ListObjectsV2Response list(Page page, String what) throws FsException {
    Page asked = page;
    for (int empty = 0; empty <= MOST_EMPTY; empty++) {
      ListObjectsV2Response answer = listed(asked, what);
      String wrong = wrong(asked, answer);
      if (wrong != null) {
        throw failure(what, wrong);
      }
      if (!isEmpty(answer) || !isTruncated(answer)) {
        return answer;
      }
      asked = asked.next(answer.nextContinuationToken());
    }
    throw failure(what, "has " + MOST_EMPTY + " pages without keys in a row");
  }

  private static FsException failure(String what, String wrong) {
    return new FsException(FsError.IO, what + ": the store's listing " + wrong);
  }

  private static boolean isEmpty(ListObjectsV2Response answer) {
    return answer.contents().isEmpty() && answer.commonPrefixes().isEmpty();
  }

  /** Tells whether a page says that it is not the last one. */
  static boolean isTruncated(ListObjectsV2Response answer) {
    return Boolean.TRUE.equals(answer.isTruncated());
  }

  private ListObjectsV2Response listed(Page page, String what) throws FsException {
    try {
      return store.list(page, what);
    } catch (FsException e) {
      throw e.code() == FsError.ACCESS_DENIED
          ? new FsException(FsError.UNAVAILABLE, String.valueOf(e.getMessage()), e)
          : e;
    }
  }

  private static @Nullable String wrong(Page page, ListObjectsV2Response answer) {
    if (answer.isTruncated() == null) {
      return "does not say whether it is whole";
    }
    String last = page.after();
    for (S3Object each : answer.contents()) {
      String key = each.key();
      if (key == null || each.size() == null || each.size() < 0 || each.lastModified() == null) {
        return "has a key without name, size or time";
      }
      if (!key.startsWith(page.prefix())) {
        return "has keys that were not asked for";
      }
      if (last != null && !isInOrder(last, key)) {
        return "is not in the order of keys: only general purpose buckets can be mounted";
      }
      last = key;
    }
    for (CommonPrefix each : answer.commonPrefixes()) {
      String prefix = each.prefix();
      boolean asked = prefix != null && prefix.startsWith(page.prefix());
      if (!asked || prefix.indexOf('/', page.prefix().length()) != prefix.length() - 1) {
        return "has directories that were not asked for";
      }
    }
    String token = answer.nextContinuationToken();
    boolean needsToken =
        page.delimiter()
            || answer.contents().isEmpty()
            || (last != null && KeyNames.hasReplacement(last));
    boolean goesOn = !needsToken || (token != null && !token.equals(page.token()));
    return isTruncated(answer) && !goesOn ? "does not go on" : null;
  }

  /** Keys of which bytes were replaced on the way have an order that only the store knows. */
  private static boolean isInOrder(String key, String next) {
    return KeyNames.hasReplacement(key) || KeyNames.hasReplacement(next) || compare(key, next) < 0;
  }

  /** Compares keys by their bytes in UTF-8, as stores sort them. */
  private static int compare(String one, String other) {
    for (int i = 0; i < Math.min(one.length(), other.length()); i++) {
      char a = one.charAt(i);
      char b = other.charAt(i);
      if (a != b) {
        return a < Character.MIN_SURROGATE && b < Character.MIN_SURROGATE
            ? Character.compare(a, b)
            : Arrays.compareUnsigned(
                one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
      }
    }
    return Integer.compare(one.length(), other.length());
  }
}
