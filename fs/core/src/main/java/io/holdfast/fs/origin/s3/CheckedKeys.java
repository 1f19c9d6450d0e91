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
 * <p>A listing that the store refuses fails with UNAVAILABLE: the refusal does not concern one
 * directory, but all keys that the credentials could list before.
 */
final class CheckedKeys implements SortedKeys {
  private final SortedKeys store;

  CheckedKeys(SortedKeys store) {
    this.store = store;
  }

  @Override
  public ListObjectsV2Response list(Page page, String what) throws FsException {
    ListObjectsV2Response answer = listed(page, what);
    String wrong = wrong(page, answer);
    if (wrong != null) {
      throw new FsException(FsError.IO, what + ": the store's listing " + wrong);
    }
    return answer;
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
    String last = page.delimiter() ? null : page.after();
    for (S3Object each : answer.contents()) {
      String key = each.key();
      if (key == null || each.size() == null || each.size() < 0 || each.lastModified() == null) {
        return "has a key without name, size or time";
      }
      if (!key.startsWith(page.prefix())) {
        return "has keys that were not asked for";
      }
      if (last != null && compare(last, key) >= 0) {
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
    boolean more = Boolean.TRUE.equals(answer.isTruncated());
    boolean goesOn =
        page.delimiter()
            ? token != null && !token.equals(page.after())
            : !answer.contents().isEmpty();
    return more && !goesOn ? "does not go on" : null;
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
